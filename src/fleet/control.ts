import type { Environment } from '../os/process/program.ts';
import { endBy, endStep } from './end-loop.ts';
import { logLine } from './files/log.ts';
import { applyStep, isInIteration, isOpen, type LoopRecord, type LoopStep, readLoop } from './files/loops.ts';
import { lastExit, lastStart, signalChange } from './files/signal-files.ts';
import { findWorker, updateWorker } from './files/workers.ts';
import { holdLoop } from './hold.ts';
import { lookAtWorker } from './live.ts';
import { workerOfRun } from './supervised-run.ts';
import { ensureSupervisor, type SelfCommand } from './supervisor-start.ts';

export type Change = {
  readonly changed: boolean;
  /** The iteration that starts again, since a crash took its window. */
  readonly lost?: number;
};

/** Pauses a loop after the iteration that runs; ends a wait at once. */
export function pauseLoop(env: Environment, name: string, at: number, reason = 'manual'): Promise<Change> {
  return change(env, name, (loop) => pauseStep(loop, at, reason));
}

/** Pauses the loop that drives a run; null if no worker of this machine does. */
export async function pauseWorkerOf(env: Environment, run: string, at: number): Promise<Change | null> {
  const worker = workerOfRun(env, run);
  return worker && pauseLoop(env, worker.name, at);
}

export function pauseStep(loop: LoopRecord, at: number, reason: string): LoopStep | null {
  if (loop.status !== 'running') return null;
  const text = isInIteration(loop) ? 'paused after this iteration' : 'paused';
  return {
    change: { status: 'paused', waitUntil: null, why: { state: 'paused', since: at } },
    lines: [logLine(at, 'PAUSE', `loop paused reason=${reason}`)],
    events: [{ at, type: 'paused', text: `${text} (${reason})` }],
  };
}

/** Resumes a loop with the count as it is, and starts a supervisor if none is alive. */
export async function resumeLoop(
  env: Environment,
  name: string,
  at: number,
  swarm: SelfCommand,
): Promise<Change> {
  const lost = await lostLaunch(env, name);
  let iteration: number | undefined;
  const result = await change(env, name, (loop) => {
    const isLost = loop.launch === lost;
    if (isLost) iteration = loop.iteration;
    return resumeStep(loop, at, isLost);
  });
  if (!result.changed) return result;
  updateWorker(env, name, { status: 'running' });
  await ensureSupervisor(env, swarm);
  return iteration === undefined ? result : { ...result, lost: iteration };
}

/** Returns the start of a plain worker whose window is gone, though nobody wrote its end; null if it has none. */
async function lostLaunch(env: Environment, name: string): Promise<number | null> {
  const loop = readLoop(env, name);
  const worker = findWorker(env, name);
  if (loop === null || worker === null || loop.options.run !== undefined || !isInIteration(loop)) return null;
  const isStarted = lastStart(env, name) === loop.launch && lastExit(env, name)?.launch !== loop.launch;
  return isStarted && (await lookAtWorker(env, worker)).pane === null ? loop.launch : null;
}

/** Resumes the loop that drives a run; null if no worker of this machine does. */
export async function resumeWorkerOf(
  env: Environment,
  run: string,
  at: number,
  swarm: SelfCommand,
): Promise<Change | null> {
  const worker = workerOfRun(env, run);
  return worker && resumeLoop(env, worker.name, at, swarm);
}

/** Returns the step that resumes a loop; null if nothing changes. An iteration that is lost is given back. */
export function resumeStep(loop: LoopRecord, at: number, isLost = false): LoopStep | null {
  if (loop.status !== 'paused' && !(loop.status === 'running' && (loop.held || isLost))) return null;
  const { iteration } = loop;
  return {
    change: {
      status: 'running',
      held: false,
      waitUntil: null,
      why: { state: isInIteration(loop) && !isLost ? 'working' : 'queued', since: at },
      end: null,
      ...(isLost ? { iteration: loop.ended } : {}),
    },
    lines: [logLine(at, 'RESUME', `loop resumed at iteration ${iteration}`)],
    events: [{ at, type: 'resumed', text: isLost ? `resumed: ${lostText(iteration)}` : 'resumed' }],
  };
}

/** Says what becomes of an iteration whose window a crash took. */
export function lostText(iteration: number): string {
  return `the window was lost in a crash: iteration ${iteration} starts again`;
}

/** Ends the loop. The caller has to end its processes. */
export function stopLoop(env: Environment, name: string, at: number): Promise<Change> {
  return change(env, name, (loop) => stopStep(loop, at));
}

export function stopStep(loop: LoopRecord, at: number): LoopStep | null {
  if (!isOpen(loop)) return null;
  const because = { code: 'cancelled', text: 'somebody stopped it' } as const;
  return endStep(loop, endBy({ outcome: 'CANCELLED', because }, loop), at);
}

/** Changes a loop once no process starts an iteration of it, and tells the supervisor. */
async function change(
  env: Environment,
  name: string,
  step: (loop: LoopRecord) => LoopStep | null,
): Promise<Change> {
  let changed = false;
  await holdLoop(env, name, async () => {
    applyStep(env, name, (loop) => {
      const next = step(loop);
      changed = next !== null;
      return next;
    });
  });
  if (changed) signalChange(env, name);
  return { changed };
}
