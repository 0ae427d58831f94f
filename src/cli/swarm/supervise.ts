import { fleetPaths } from '../../fleet/files/paths.ts';
import { stampSeconds } from '../../fleet/files/time.ts';
import { createSupervisor, hasWork, type Supervisor } from '../../fleet/supervisor.ts';
import { systemClock } from '../../os/clock.ts';
import { ensureDir } from '../../os/files/files.ts';
import { acquireLock } from '../../os/files/lock.ts';
import type { Context } from '../kernel/spec.ts';

const defaultTickMs = 2000;

/** Drives all loops of this machine, in one process. Ends when none is left. */
export async function main(context: Context): Promise<void> {
  const { env, stdout } = context;
  const paths = fleetPaths(env);
  ensureDir(paths.root);
  let supervisor: Supervisor | null = null;
  let isToPause = false;
  // Before the lock exists, since whoever sees it may send a signal.
  const pause = () => {
    isToPause = true;
    supervisor?.pauseAll();
  };
  process.on('SIGHUP', () => {});
  process.on('SIGTERM', pause);
  process.on('SIGINT', pause);
  let holding = acquireLock(paths.supervisorLock, {});
  const say = (line: string) => void stdout.stream.write(`${stampSeconds(systemClock.now())} ${line}\n`);
  while (holding.ok) {
    const tickMs = tickOf(env.SWARM_TICK_MS);
    supervisor = createSupervisor({ env, clock: systemClock, tickMs, version: __VERSION__, say });
    if (isToPause) supervisor.pauseAll();
    const { lock } = holding;
    let isIdle = false;
    await supervisor.run(() => {
      // Whoever adds a loop from now on finds no supervisor, and starts one.
      lock.release();
      isIdle = true;
      return true;
    });
    if (!isIdle) lock.release();
    if (!isIdle || !hasWork(env)) return;
    holding = acquireLock(paths.supervisorLock, {});
  }
}

/** Milliseconds between two looks at the screens. SWARM_TICK_MS sets them, for tests. */
function tickOf(text: string | undefined): number {
  const ms = Number(text);
  return Number.isFinite(ms) && ms >= 10 ? ms : defaultTickMs;
}
