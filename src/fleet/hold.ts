import { RalphError } from '../core/error.ts';
import { ensureMarks } from '../store/fleet-marks.ts';
import { loopPaths, markPaths } from '../store/fleet-paths.ts';
import { systemClock } from '../system/clock.ts';
import { acquireLock } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';

const pauseMs = 10;
const patienceMs = 60_000;

/** One command at a time makes, restarts or ends a worker; the others wait for it. */
export async function holdWorker<T>(env: Environment, name: string, use: () => Promise<T>): Promise<T> {
  ensureMarks(env);
  return hold(markPaths(env, name).lock, name, use);
}

/** Nobody else changes the loop while its next iteration starts. */
export async function holdLoop<T>(env: Environment, name: string, use: () => Promise<T>): Promise<T> {
  ensureMarks(env);
  return hold(loopPaths(env, name).lock, name, use);
}

async function hold<T>(path: string, name: string, use: () => Promise<T>): Promise<T> {
  const deadline = systemClock.monotonic() + patienceMs;
  for (;;) {
    const taken = acquireLock(path, {});
    if (taken.ok) {
      try {
        return await use();
      } finally {
        taken.lock.release();
      }
    }
    if (systemClock.monotonic() > deadline) {
      throw new RalphError('worker-busy', `worker '${name}' is in use by process ${taken.owner.pid}`, {
        exitCode: 1,
      });
    }
    await systemClock.sleep(pauseMs);
  }
}
