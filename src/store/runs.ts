import { existsSync, readdirSync } from 'node:fs';
import { RalphError } from '../core/error.ts';
import { hashText } from '../core/hash.ts';
import type { Evidence } from '../core/loop.ts';
import type { Outcome } from '../core/outcome.ts';
import { noUsage, type Usage } from '../core/turn.ts';
import { listDir } from '../system/files.ts';
import type { EventOf, JournalEvent } from './events.ts';
import { readJournal } from './journal.ts';
import { projectPaths, runPaths } from './paths.ts';

/** A run as `ralph show --json` prints it. Outcome and exit code are null while it runs, and when it was killed. */
export type RunRecord = {
  readonly run: string;
  /** A loop of `ralph run`, or one inside an agent's session. */
  readonly kind: 'run' | 'session';
  readonly outcome: Outcome | null;
  readonly exitCode: number | null;
  /** True between two iterations that a supervisor starts: no process runs, and the run is not over. */
  readonly yielded: boolean;
  readonly iterations: number;
  readonly verdicts: readonly {
    readonly iteration: number;
    readonly accepted: boolean;
    readonly because: string;
    readonly evidence: readonly Evidence[];
  }[];
  /** Tool calls that the guard refused. */
  readonly denials: readonly {
    readonly iteration: number;
    readonly tool: string;
    readonly what: string;
    readonly category: string;
    readonly reason: string;
  }[];
  readonly usage: Usage;
  readonly because: string | null;
  readonly agent: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
};

/** An id that sorts by time, to the millisecond: loops may follow each other fast. */
export function newRunId(
  now: number,
  suffix = Math.random().toString(36).slice(2, 5).padEnd(3, '0'),
): string {
  const [date, time, ms] = new Date(now).toISOString().replace(/[-:Z]/g, '').split(/[T.]/);
  return `${date}-${time}-${ms}${suffix}`;
}

/** The id of the run that a supervisor makes for a loop: whoever knows the loop knows it. */
export function runIdFor(loop: string, startedAt: number): string {
  return newRunId(startedAt, hashText(loop).slice(0, 3));
}

/** Whether there is a run of that id that has begun. */
export function hasStarted(cwd: string, run: string): boolean {
  return last(readJournal(runPaths(cwd, run).journal).events, 'run.started') !== undefined;
}

/** Run ids of this working copy, oldest first. */
export function listRuns(cwd: string): string[] {
  const { runs } = projectPaths(cwd);
  if (!existsSync(runs)) return [];
  return readdirSync(runs, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(runPaths(cwd, entry.name).journal))
    .map((entry) => entry.name)
    .sort();
}

/** The latest run of this working copy; null without any. */
export function latestRun(cwd: string): string | null {
  const names = listDir(projectPaths(cwd).runs);
  return names.findLast((name) => existsSync(runPaths(cwd, name).journal)) ?? null;
}

/** The run that a person means by `latest`, an id, or the beginning of one. */
export function findRun(cwd: string, wanted = 'latest'): string {
  return pickRun(listRuns(cwd), wanted);
}

/** The same out of these runs, which are sorted. */
export function pickRun(runs: readonly string[], wanted = 'latest'): string {
  const found = wanted === 'latest' ? runs.slice(-1) : runs.filter((run) => run.startsWith(wanted));
  const [only, ...others] = found.includes(wanted) ? [wanted] : found;
  if (only !== undefined && others.length === 0) return only;
  if (runs.length === 0) {
    throw new RalphError('no-run', 'there is no run in this folder yet', {
      remedy: 'ralph run -p "your task"',
    });
  }
  const problem =
    only === undefined ? `there is no run "${wanted}" here` : `"${wanted}" is the beginning of several runs`;
  throw new RalphError('no-run', `${problem}; the latest is ${runs.at(-1)}`, { remedy: 'ralph show latest' });
}

export function readRun(cwd: string, run: string): RunRecord {
  return recordOf(run, readJournal(runPaths(cwd, run).journal).events);
}

/** Folds a journal into a record. */
export function recordOf(
  run: string,
  events: readonly JournalEvent[],
  kind: RunRecord['kind'] = 'run',
): RunRecord {
  const started = last(events, 'run.started');
  const resumed = last(events, 'run.resumed');
  const lastEnd = last(events, 'run.ended');
  const ended = lastEnd && lastEnd.seq > (resumed?.seq ?? 0) ? lastEnd : undefined;
  const decided = last(events, 'decision');
  const accepted = decided?.outcome === 'PROMISE_ACCEPTED' ? decided.outcome : undefined;
  const failed = last(events, 'run.failed');
  return {
    run,
    kind,
    // The decision is durable before the end is written.
    outcome: ended?.outcome ?? accepted ?? null,
    yielded: events.findLast(({ type }) => type !== 'notified')?.type === 'run.yielded',
    exitCode: ended?.exitCode ?? (accepted ? 0 : null),
    iterations: ended?.iterations ?? last(events, 'iteration.started')?.iteration ?? 0,
    verdicts: events
      .filter((event) => event.type === 'verdict')
      .map(({ iteration, accepted, because, evidence }) => ({ iteration, accepted, because, evidence })),
    denials: events
      .filter((event) => event.type === 'guard.denied')
      .map(({ iteration, tool, what, category, reason }) => ({ iteration, tool, what, category, reason })),
    usage: ended?.usage ?? decided?.loop.usage ?? noUsage,
    because: ended?.because.text ?? failed?.message ?? null,
    agent: started?.agent ?? null,
    startedAt: started?.at ?? null,
    endedAt: ended?.at ?? null,
  };
}

/** The last event of a kind. */
export function last<T extends JournalEvent['type']>(
  events: readonly JournalEvent[],
  type: T,
): EventOf<T> | undefined {
  return events.findLast((event): event is EventOf<T> => event.type === type);
}
