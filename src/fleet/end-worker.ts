import { readLoop } from '../store/fleet-loops.ts';
import { workerRunId } from '../store/fleet-paths.ts';
import { updateWorker, type Worker } from '../store/fleet-workers.ts';
import { sweepRun } from '../system/process.ts';
import type { Environment } from '../system/program.ts';
import { tmuxServer } from '../system/tmux.ts';
import { stopLoop } from './control.ts';
import { lookAtWorker } from './live.ts';
import { endRunOf } from './supervised-run.ts';

const termMs = 5000;

/** Ends a worker: its loop, its processes and its window. It stays on the list. */
export async function endWorker(env: Environment, worker: Worker, now: number): Promise<void> {
  // The loop first: whoever starts the next iteration looks at it before.
  const isLoop = worker.metadata.ralph === true;
  const isStopped = isLoop && stopLoop(env, worker.name, now).changed;
  const { pane, running } = await lookAtWorker(env, worker);
  const group = pane === null ? (running ? worker.pid : null) : pane.dead ? null : pane.pid;
  await sweepRun(workerRunId(env, worker.name), {
    termMs,
    children: true,
    ...(group === null ? {} : { group }),
  });
  if (pane !== null && worker.tmux !== null) await tmuxServer(worker.tmux.socket, env).killWindow(pane.id);
  updateWorker(env, worker.name, { status: 'stopped' });
  if (isStopped) endRunOf(worker, readLoop(env, worker.name));
}
