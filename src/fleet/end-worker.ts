import { removeIfThere } from '../os/files/files.ts';
import { sweepRun } from '../os/process/process.ts';
import type { Environment } from '../os/process/program.ts';
import { tmuxServer } from '../os/terminal/tmux.ts';
import { countFailures } from './book-end.ts';
import { stopLoop } from './control.ts';
import { retireLoop, updateLoop } from './files/loops.ts';
import { logPaths, workerRunId } from './files/paths.ts';
import { removeSignals } from './files/signal-files.ts';
import { removeWorker, updateWorker, type Worker } from './files/workers.ts';
import { holdWorker } from './hold.ts';
import { lookAtWorker } from './live.ts';
import { failuresSince } from './run-iteration.ts';
import { endRunOf, runOf, workerOfRun } from './supervised-run.ts';

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
  if (!isStopped) return;
  // Its last turn may have been decided while nobody had booked it yet.
  const loop = updateLoop(env, worker.name, (newest) => {
    const run = runOf(worker, newest);
    const failures = run && failuresSince(run, newest.runSeq ?? 0);
    return failures === null ? null : { change: countFailures(newest, failures), lines: newest.lines };
  });
  endRunOf(worker, loop);
}

/** Ends the worker that drives a run; false if this fleet has none. */
export async function endWorkerOf(env: Environment, run: string, now: number): Promise<boolean> {
  const worker = workerOfRun(env, run);
  if (worker === null) return false;
  await holdWorker(env, worker.name, () => endWorker(env, worker, now));
  return true;
}

/** Takes an ended worker off the list, and its files with it, except what a person reads of a loop afterwards. */
export function forgetWorker(env: Environment, name: string): void {
  // Off the list first: what a crash leaves after that, nobody drives any more.
  removeWorker(env, name);
  removeLogs(env, name);
  retireLoop(env, name);
  removeSignals(env, name);
}

/** What a worker without a window printed. */
export function removeLogs(env: Environment, name: string): void {
  for (const log of Object.values(logPaths(env, name))) removeIfThere(log);
}
