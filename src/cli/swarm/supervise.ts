import { fleetPaths } from '../../fleet/files/paths.ts';
import { stampSeconds } from '../../fleet/files/time.ts';
import { createSupervisor, hasWork, type Supervisor } from '../../fleet/supervisor.ts';
import { systemClock } from '../../os/clock.ts';
import { ensureDir } from '../../os/files/files.ts';
import { acquireLock } from '../../os/files/lock.ts';
import type { Context } from '../kernel/spec.ts';

const defaultTickMs = 2000;

/** The one process that drives all loops of this machine. It ends when none is left. */
export async function main(context: Context): Promise<number> {
  const { env, stdout } = context;
  const paths = fleetPaths(env);
  ensureDir(paths.root);
  let supervisor: Supervisor | null = null;
  let isToPause = false;
  // Before the lock is there, since whoever sees that may send a signal.
  const pause = () => {
    isToPause = true;
    supervisor?.pauseAll();
  };
  process.on('SIGHUP', () => {});
  process.on('SIGTERM', pause);
  process.on('SIGINT', pause);
  let taken = acquireLock(paths.supervisorLock, {});
  if (!taken.ok) return 0;
  const say = (line: string) => void stdout.stream.write(`${stampSeconds(systemClock.now())} ${line}\n`);
  for (;;) {
    const tickMs = tickOf(env.SWARM_TICK_MS);
    supervisor = createSupervisor({ env, clock: systemClock, tickMs, version: __VERSION__, say });
    if (isToPause) supervisor.pauseAll();
    const { lock } = taken;
    let left = false;
    await supervisor.run(() => {
      // Whoever hands in a loop from now on finds no supervisor, and starts one.
      lock.release();
      left = true;
      return true;
    });
    if (!left) {
      lock.release();
      return 0;
    }
    if (!hasWork(env)) return 0;
    taken = acquireLock(paths.supervisorLock, {});
    if (!taken.ok) return 0;
  }
}

/** SWARM_TICK_MS: milliseconds between two looks at the screens, for tests. */
function tickOf(text: string | undefined): number {
  const ms = Number(text);
  return Number.isFinite(ms) && ms >= 10 ? ms : defaultTickMs;
}
