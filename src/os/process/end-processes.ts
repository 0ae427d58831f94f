import { systemClock } from '../clock.ts';
import { readStat } from './process-table.ts';

const killMs = 2000;
const longestPauseMs = 50;

/**
 * TERM to all that `find` finds, KILL to what is left after `termMs`, until nothing is found. Returns those that are
 * gone; one that not even KILL ends (it hangs in the kernel) is given up.
 */
export async function endProcesses(
  find: () => number[] | Promise<number[]>,
  termMs: number,
): Promise<number[]> {
  const started = systemClock.monotonic();
  const signalled = new Map<number, string>();
  // One that is ending has no environment any more, by which it was found, and neither has one that overwrote it.
  const living = async () => {
    const left = [...signalled].filter(([pid, startedAt]) => startedAt !== '' && startOf(pid) === startedAt);
    return [...new Set([...(await find()), ...left.map(([pid]) => pid)])];
  };
  let alive = await living();
  for (let pause = 2; alive.length > 0; pause = Math.min(pause * 2, longestPauseMs)) {
    const elapsed = systemClock.monotonic() - started;
    if (elapsed > termMs + killMs) break;
    for (const pid of alive) {
      if (elapsed >= termMs) signalProcess(pid, 'SIGKILL');
      else if (!signalled.has(pid)) signalProcess(pid, 'SIGTERM');
      if (!signalled.has(pid)) signalled.set(pid, startOf(pid));
    }
    await systemClock.sleep(Math.min(pause, Math.max(1, termMs - elapsed)));
    alive = await living();
  }
  return [...signalled.keys()].filter((pid) => !alive.includes(pid));
}

/** Empty where it is gone, or where the system does not tell. */
function startOf(pid: number): string {
  return readStat(pid)?.startTime ?? '';
}

/** It may have gone in the meantime. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}
