import { runPaths } from '../config/paths.ts';
import { quoteWord } from '../core/words.ts';
import { runningLoop } from '../drive/process/ownership.ts';
import type { EventBody } from '../journal/events.ts';
import { openJournal } from '../journal/journal.ts';
import { elapsedAt } from '../journal/run-view.ts';
import { readRun } from '../journal/runs.ts';
import { runEnded } from '../journal/turn-events.ts';
import type { Environment } from '../os/process/program.ts';
import { type LoopEnd, type LoopRecord, readLoop } from './files/loops.ts';
import { readWorkers, type Worker } from './files/workers.ts';

/**
 * A run of `ralph run` that a supervisor drives: each iteration is a process of its own, and all of them are one run with
 * one journal.
 */
export type SupervisedRun = { readonly cwd: string; readonly id: string };

export function runOf({ cwd }: Pick<Worker, 'cwd'>, { options }: LoopRecord): SupervisedRun | null {
  return options.run === undefined || options.runId === undefined ? null : { cwd, id: options.runId };
}

/** Returns the worker of this machine that drives a run; null if there is none, or a person has resumed the run. */
export function workerOfRun(env: Environment, run: string): Worker | null {
  const drives = ({ name, cwd }: Worker) => {
    const loop = readLoop(env, name);
    if (loop?.options.runId !== run) return false;
    return loop.iteration > loop.ended || runningLoop(cwd)?.run !== run;
  };
  return readWorkers(env).workers.find(drives) ?? null;
}

/** Returns the command of one iteration: the first begins the run, the others resume it. */
export function runCommand(
  run: SupervisedRun,
  [agent = '']: readonly string[],
  loop: Pick<LoopRecord, 'options' | 'settings' | 'iteration' | 'runSeq'>,
): string[] {
  const { options, settings, iteration, runSeq = 0 } = loop;
  const { engine = [], run: words = [] } = options;
  const task = runSeq > 0 ? ['--resume', run.id] : ['--run-id', run.id, '-f', settings.prompt_file];
  const max = ['-m', String(settings.max_iterations)];
  return [...engine, 'run', `--one-iteration=${iteration}`, ...task, '--agent', agent, ...words, ...max];
}

/** Setting that passes the agent's own arguments through `ralph run`. */
export function runEnvironment([, ...words]: readonly string[]): Record<string, string> {
  return words.length === 0 ? {} : { RALPH_AGENT_FLAGS: JSON.stringify(words.map(quoteWord)) };
}

/** Writes the end of a worker's loop into the journal of its run, unless the run has ended itself. */
export function endRunOf(worker: Pick<Worker, 'cwd'>, loop: LoopRecord | null): void {
  const run = loop && runOf(worker, loop);
  if (run && loop.end) endRun(run, loop.end, loop.why.since);
}

/** Writes an end into the journal of a run, unless the run has ended itself. */
export function endRun(run: SupervisedRun, end: LoopEnd, at: number): void {
  const { view } = readRun(run.cwd, run.id);
  // A person may have resumed it: then its own process writes its end.
  if (view.startedAt === null || runningLoop(run.cwd)?.run === run.id) return;
  // A process that was ended with its worker may have written that it was interrupted.
  if (view.state === 'ended' && (view.outcome !== 'INTERRUPTED' || end.outcome === 'INTERRUPTED')) return;
  appendToRun(run, [runEnded(end, view, elapsedAt(view, at))], at);
}

/** Appends to the journal of a run while no process runs it. */
export function appendToRun({ cwd, id }: SupervisedRun, bodies: readonly EventBody[], at: number): void {
  const journal = openJournal(runPaths(cwd, id).journal, () => at, { root: cwd });
  try {
    for (const body of bodies) journal.append(body);
  } finally {
    journal.close();
  }
}
