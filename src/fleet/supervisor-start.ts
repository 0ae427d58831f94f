import { ensureDir } from '../os/files/files.ts';
import { lockOwner } from '../os/files/lock.ts';
import { withoutMarks } from '../os/process/process-table.ts';
import { detachedMark } from '../os/process/process-tree.ts';
import type { Environment } from '../os/process/program.ts';
import { startDetached } from '../os/process/spawn.ts';
import { fleetPaths } from './files/paths.ts';
import { readWorkers, type Worker } from './files/workers.ts';

/** Command of this program, so that the supervisor has the same version. */
export type SelfCommand = readonly [string, ...string[]];

/** Pid of the supervisor; null if none runs. */
export function supervisorPid(env: Environment): number | null {
  return lockOwner(fleetPaths(env).supervisorLock)?.pid ?? null;
}

/** Starts the supervisor unless one runs. A lock keeps a second one from running. */
export async function ensureSupervisor(env: Environment, self: SelfCommand): Promise<void> {
  const { root, supervisorLog } = fleetPaths(env);
  ensureDir(root);
  if (supervisorPid(env) !== null) return;
  const { SWARM_WORKER: _, TMUX: __, TMUX_PANE: ___, ...outside } = withoutMarks(env);
  await startDetached([...self, 'supervise'], {
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
