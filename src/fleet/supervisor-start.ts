import { systemClock } from '../os/clock.ts';
import { lockOwner } from '../os/files/lock.ts';
import { processIdentity } from '../os/process/process-identity.ts';
import { withoutMarks } from '../os/process/process-table.ts';
import { detachedMark } from '../os/process/process-tree.ts';
import type { Environment } from '../os/process/program.ts';
import { startDetached } from '../os/process/spawn.ts';
import { fleetPaths } from './files/paths.ts';
import { readWorkers, type Worker } from './files/workers.ts';
import { holdStart } from './hold.ts';

const lookMs = 10;

/** Command of this program, so that the supervisor has the same version. */
export type SelfCommand = readonly [string, ...string[]];

export function supervisorPid(env: Environment): number | null {
  return lockOwner(fleetPaths(env).supervisorLock)?.pid ?? null;
}

/** Starts the supervisor unless one runs. Of several callers at once, one starts it, and the others wait for that. */
export async function ensureSupervisor(env: Environment, self: SelfCommand): Promise<void> {
  if (supervisorPid(env) !== null) return;
  await holdStart(env, async () => {
    if (supervisorPid(env) !== null) return;
    const pid = await startSupervisor(env, self);
    // It takes the lock, or finds that another has it and ends.
    while (supervisorPid(env) === null && processIdentity(pid) !== null) await systemClock.sleep(lookMs);
  });
}

function startSupervisor(env: Environment, self: SelfCommand): Promise<number> {
  const { supervisorLog } = fleetPaths(env);
  const { SWARM_WORKER: _, TMUX: __, TMUX_PANE: ___, ...outside } = withoutMarks(env);
  return startDetached([...self, 'supervise'], {
    cwd: '/',
    // The end of a worker that starts it must not end the supervisor.
    env: { ...outside, ...detachedMark },
    stdout: supervisorLog,
    stderr: supervisorLog,
  });
}

/** Starts a supervisor if loops are running and none is alive. Every swarm command calls this. */
export async function reviveSupervisor(
  env: Environment,
  self: SelfCommand,
  workers: readonly Worker[] = readWorkers(env).workers,
): Promise<void> {
  const hasLoops = workers.some(({ status, metadata }) => metadata.ralph === true && status === 'running');
  if (hasLoops) await ensureSupervisor(env, self);
}
