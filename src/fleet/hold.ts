import { RalphError } from '../core/error.ts';
import { systemClock } from '../os/clock.ts';
import { acquireLock } from '../os/files/lock.ts';
import type { Environment } from '../os/process/program.ts';
import { fleetPaths, loopPaths, signalPaths } from './files/paths.ts';
import { ensureSignals } from './files/signal-files.ts';

const pauseMs = 10;
const patienceMs = 60_000;

/** Holds the lock of a worker: one command at a time makes, restarts or ends it, and the others wait. */
export function holdWorker<T>(env: Environment, name: string, use: () => Promise<T>): Promise<T> {
  return hold(env, signalPaths(env, name).lock, name, use);
}

/** Holds the lock of a loop, so that nobody changes it while its next iteration starts. */
export function holdLoop<T>(env: Environment, name: string, use: () => Promise<T>): Promise<T> {
  return hold(env, loopPaths(env, name).lock, name, use);
}

/** Holds the lock of the start of the supervisor. */
export function holdStart<T>(env: Environment, use: () => Promise<T>): Promise<T> {
  return hold(env, `${fleetPaths(env).supervisorLock}.start`, 'supervisor', use);
}

async function hold<T>(env: Environment, path: string, name: string, use: () => Promise<T>): Promise<T> {
  ensureSignals(env);
  const deadline = systemClock.monotonic() + patienceMs;
  for (;;) {
    const attempt = acquireLock(path, {});
    if (attempt.ok) {
      try {
        return await use();
      } finally {
        attempt.lock.release();
      }
    }
    if (systemClock.monotonic() > deadline) {
      throw new RalphError('worker-busy', `worker '${name}' is in use by process ${attempt.owner.pid}`, {
        exitCode: 1,
      });
    }
    await systemClock.sleep(pauseMs);
  }
}
