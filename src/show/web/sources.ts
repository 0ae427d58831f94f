import { runPaths } from '../../config/paths.ts';
import { messageOf } from '../../core/error.ts';
import { isQuestionOpen } from '../../drive/human.ts';
import { isPaused } from '../../drive/mailbox.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import { listSessionRuns } from '../../drive/session/session-runs.ts';
import type { Timeline } from '../../fleet/files/events.ts';
import { type LoopRecord, readLoop } from '../../fleet/files/loops.ts';
import { readWorkers, type Worker } from '../../fleet/files/workers.ts';
import { runningNow } from '../../fleet/live.ts';
import { runOf } from '../../fleet/supervised-run.ts';
import { listRuns } from '../../journal/runs.ts';
import { lstatOf } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';

/** State of the question that a run ended with: open, answered, or made history by a later run. */
export type QuestionState = 'open' | 'answered' | 'past';

/** A loop as the dashboard finds it. It holds secrets (the environment of a worker) and is never sent. */
export type LoopSource = {
  readonly id: string;
  readonly kind: 'run' | 'session' | 'worker';
  readonly name: string;
  readonly folder: string;
  readonly hasTerminal: boolean;
  /** The name of the run; a worker that only drives a terminal has none. */
  readonly run: string | null;
  readonly journal: string | null;
  readonly life: 'alive' | 'paused' | 'dead';
  /** Set for a worker; one without a loop only runs a command. */
  readonly worker: {
    readonly worker: Worker;
    readonly loop: LoopRecord | null;
    /** Reports of a worker on another machine, which has no files here. */
    readonly told?: { readonly timeline: Timeline; readonly prompt: string };
  } | null;
  /** The newest run of its folder: the one that commands mean which name none. */
  readonly isLatest: boolean;
  /** State of the question that the run ended with; null if there is none or it is not known yet. */
  readonly question: QuestionState | null;
};

export type Sources = {
  readonly sources: readonly LoopSource[];
  /** Why some are missing, as long as that is so. */
  readonly trouble: string | null;
  /** Problem met while listing; reported once. */
  readonly warning?: string | null;
};

/** A loop that is no worker. */
export const plainSource = { hasTerminal: false, worker: null, isLatest: false, question: null };

const shownRuns = 200;

/** The runs of this folder, the loops in sessions, and the workers of the fleet. */
export async function listSources(
  env: Environment,
  cwd: string,
  options: { readonly withFleet: boolean; readonly fleet?: () => Promise<Sources> },
): Promise<Sources> {
  const ask = options.fleet ?? (() => workersOf(env));
  const fleet: Sources = options.withFleet ? await ask() : { sources: [], trouble: null };
  // A run that a worker drives is shown as the worker.
  const driven = new Set(fleet.sources.flatMap(({ journal }) => journal ?? []));
  const runs = runsIn(env, cwd).filter(({ journal }) => journal === null || !driven.has(journal));
  return { ...fleet, sources: [...runs, ...sessionsOf(env, cwd), ...fleet.sources] };
}

/** Returns whether a process drives a run of this folder now. */
export function lifeOf(env: Environment, folder: string, run: string): LoopSource['life'] {
  if (runningLoop(folder)?.run !== run) return 'dead';
  return isPaused(env, run) ? 'paused' : 'alive';
}

function runsIn(env: Environment, folder: string): LoopSource[] {
  const running = runningLoop(folder)?.run ?? null;
  const runs = listRuns(folder);
  const latest = runs.at(-1);
  return runs.slice(-shownRuns).map((run) => ({
    ...plainSource,
    ...{ id: run, kind: 'run', name: run, folder, run, journal: runPaths(folder, run).journal },
    life: run === running ? lifeOf(env, folder, run) : 'dead',
    isLatest: run === latest,
  }));
}

export function questionOf(env: Environment, source: LoopSource): QuestionState {
  if (!source.isLatest) return 'past';
  return isQuestionOpen(env, source.folder) ? 'open' : 'answered';
}

function sessionsOf(env: Environment, folder: string): LoopSource[] {
  const lives = { active: 'alive', paused: 'paused', ended: 'dead' } as const;
  return listSessionRuns(env, folder)
    .slice(-shownRuns)
    .map(({ run, status, journal }) => ({
      ...plainSource,
      ...{ id: run, kind: 'session', name: run, folder, run, journal },
      life: lives[status],
    }));
}

/** A list of workers that cannot be read must not hide the loops that can be; but it is said. */
async function workersOf(env: Environment): Promise<Sources> {
  try {
    const { workers, warning } = readWorkers(env);
    const running = await runningNow(env, workers);
    const sources = workers.map((worker, index) => sourceOf(env, worker, running[index] === true));
    return { sources, trouble: null, warning };
  } catch (error) {
    return { sources: [], trouble: `the workers cannot be shown: ${messageOf(error)}` };
  }
}

function sourceOf(env: Environment, worker: Worker, isRunning: boolean): LoopSource {
  const loop = readLoop(env, worker.name);
  const run = loop === null ? null : beganRun(worker, loop);
  return {
    ...plainSource,
    id: `worker:${worker.name}`,
    kind: 'worker',
    name: worker.name,
    folder: worker.cwd,
    hasTerminal: worker.tmux !== null,
    run,
    journal: run === null ? null : runPaths(worker.cwd, run).journal,
    life: loop === null ? (isRunning ? 'alive' : 'dead') : lifeOfLoop(loop),
    worker: { worker, loop },
  };
}

/** The run of a worker with the checks of `ralph run`; null before it has begun. */
function beganRun(worker: Worker, loop: LoopRecord): string | null {
  const run = runOf(worker, loop);
  return run === null || lstatOf(runPaths(run.cwd, run.id).journal) === null ? null : run.id;
}

function lifeOfLoop({ status, held }: LoopRecord): LoopSource['life'] {
  if (status === 'paused' || held) return 'paused';
  return status === 'running' ? 'alive' : 'dead';
}
