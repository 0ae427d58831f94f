import { attempt } from '../attempt.ts';
import { systemClock } from '../clock.ts';
import { readStat } from './process-list.ts';

const killMs = 2000;
const longestPauseMs = 50;

/**
 * Sends TERM to the processes that `find` returns, and KILL to those left after `termMs`, until none is left. Returns
 * those that are gone; gives up on one that not even KILL ends because it hangs in the kernel.
 */
export async function endProcesses(find: () => number[], termMs: number): Promise<number[]> {
  const startedAt = systemClock.monotonic();
  const signalled = new Map<number, string>();
  // A process that is ending, or overwrote its environment, can no longer be found by that.
  const living = () => {
    const alive = [...signalled].filter(([pid, start]) => start !== '' && startOf(pid) === start);
    return [...new Set([...find(), ...alive.map(([pid]) => pid)])];
  };
  let alive = living();
  for (let pause = 2; alive.length > 0; pause = Math.min(pause * 2, longestPauseMs)) {
    const elapsed = systemClock.monotonic() - startedAt;
    if (elapsed > termMs + killMs) break;
    for (const pid of alive) {
      if (elapsed >= termMs) signalProcess(pid, 'SIGKILL');
      else if (!signalled.has(pid)) signalProcess(pid, 'SIGTERM');
      if (!signalled.has(pid)) signalled.set(pid, startOf(pid));
    }
    await systemClock.sleep(Math.min(pause, Math.max(1, termMs - elapsed)));
    alive = living();
  }
  return [...signalled.keys()].filter((pid) => !alive.includes(pid));
}

/** Empty if the process is gone, or if the system does not tell. */
function startOf(pid: number): string {
  return readStat(pid)?.startTime ?? '';
}

/** Signals a process, which may be gone. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  attempt(() => process.kill(pid, signal), false);
}
