import { quoteWord } from '../core/words.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import type { LoopWorker } from '../store/fleet-workers.ts';
import { readJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import { last, listRuns } from '../store/runs.ts';
import type { IterationEnd } from './port.ts';

/** How the iteration ended, as the engine of `ralph run` judged it. */
export type EngineEnd = Pick<IterationEnd, 'how' | 'doneMatched' | 'limitUntil' | 'stop'> & {
  /** What stands for the exit code: that of `ralph run` says only that it stopped after one iteration. */
  readonly exitCode: number | null;
  readonly run: string;
};

/** The command of one iteration of `ralph run`: the first begins a run, the others go on with it. */
export function engineCommand(
  worker: Pick<LoopWorker, 'cmd'>,
  { options, settings }: Pick<LoopRecord, 'options' | 'settings'>,
): string[] {
  const { engine = [], run = [], runId } = options;
  const [agent = ''] = worker.cmd;
  const max = ['-m', String(settings.max_iterations)];
  const task =
    runId === undefined ? ['-f', settings.prompt_file, '--agent', agent, ...run] : ['--resume', runId];
  return [...engine, 'run', '--one-iteration', ...task, ...max];
}

/** The agent's own words go by a setting: `ralph run` puts them after its own. */
export function engineEnv({ cmd }: Pick<LoopWorker, 'cmd'>): Record<string, string> {
  const flags = cmd.slice(1).map(quoteWord);
  return flags.length === 0 ? {} : { RALPH_AGENT_FLAGS: JSON.stringify(flags) };
}

/** What the journal of the run says of the iteration that just ended; null where it never began. */
export function engineEnd(
  worker: Pick<LoopWorker, 'cwd'>,
  loop: Pick<LoopRecord, 'options' | 'iterationStartedAt'>,
): EngineEnd | null {
  const run = loop.options.runId ?? listRuns(worker.cwd).at(-1);
  if (run === undefined) return null;
  const since = loop.iterationStartedAt ?? 0;
  const events = readJournal(runPaths(worker.cwd, run).journal).events.filter(
    ({ at }) => Date.parse(at) >= since,
  );
  const decided = last(events, 'decision');
  if (decided === undefined) return null;
  const { kind, because, ms = 0 } = decided;
  const good = { how: 'exited', exitCode: 0, doneMatched: false, run } as const;
  if (kind === 'continue') return good;
  if (kind === 'wait') {
    if (because.code === 'turn-failed') return { ...good, exitCode: 1 };
    return { ...good, how: 'limited', exitCode: null, limitUntil: Date.parse(decided.at) + ms };
  }
  switch (decided.outcome) {
    case 'PROMISE_ACCEPTED':
      return { ...good, how: 'done', exitCode: 0, doneMatched: true };
    case 'MAX_ITERATIONS_REACHED':
      return good;
    case 'BLOCKED':
    case 'NEEDS_DECISION':
      return { ...good, stop: { status: 'paused', why: because.text } };
    default:
      return { ...good, exitCode: 1, stop: { status: 'failed', why: because.text } };
  }
}
