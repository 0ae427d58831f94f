import { removeIfThere } from '../os/files/files.ts';
import { sweepRun } from '../os/process/process.ts';
import type { Environment } from '../os/process/program.ts';
import { tmuxServer } from '../os/terminal/tmux.ts';
import { countFailures } from './book-end.ts';
import { stopLoop } from './control.ts';
import { retireLoop, updateLoop } from './files/loops.ts';
import { logPaths, signalPaths, workerRunId } from './files/paths.ts';
import { removeSignals } from './files/signal-files.ts';
import { removeWorker, updateWorker, type Worker } from './files/workers.ts';
import { holdWorker } from './hold.ts';
import { lookAtWorker } from './live.ts';
import { failuresSince } from './run-iteration.ts';
import { endRunOf, runOf, workerOfRun } from './supervised-run.ts';

const termMs = 5000;

/** Ends a worker: its loop, its processes and its window. It stays on the list. */
export async function endWorker(env: Environment, worker: Worker, now: number): Promise<void> {
  // Ends the loop first, so that no process starts its next iteration.
  const isLoop = worker.metadata.ralph === true;
  const isStopped = isLoop && (await stopLoop(env, worker.name, now)).changed;
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
  // The run may have decided on its last turn before anybody booked that.
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

/** Removes an ended worker and its files, except the state and the log of its loop. */
export function forgetWorker(env: Environment, name: string): void {
  // Leaves the list first, so that no process drives what a crash leaves.
  removeWorker(env, name);
  removeLogs(env, name);
  retireLoop(env, name);
  removeSignals(env, name);
  removeIfThere(signalPaths(env, name).environment);
}

export function removeLogs(env: Environment, name: string): void {
  for (const log of Object.values(logPaths(env, name))) removeIfThere(log);
}
