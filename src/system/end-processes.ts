import { systemClock } from './clock.ts';

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
  const signalled = new Set<number>();
  let alive = await find();
  for (let pause = 2; alive.length > 0; pause = Math.min(pause * 2, longestPauseMs)) {
    const elapsed = systemClock.monotonic() - started;
    if (elapsed > termMs + killMs) break;
    for (const pid of alive) {
      if (elapsed >= termMs) signalProcess(pid, 'SIGKILL');
      else if (!signalled.has(pid)) signalProcess(pid, 'SIGTERM');
      signalled.add(pid);
    }
    await systemClock.sleep(Math.min(pause, Math.max(1, termMs - elapsed)));
    alive = await find();
  }
  return [...signalled].filter((pid) => !alive.includes(pid));
}

/** It may have gone in the meantime. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {}
}
