import { existsSync, readdirSync } from 'node:fs';
import { projectPaths, runPaths } from '../config/paths.ts';
import { RalphError } from '../core/error.ts';
import { hashText } from '../core/hash.ts';
import { listDir } from '../os/files/files.ts';
import { readEventLines, type Skipped } from './event-lines.ts';
import { type EventOf, type JournalEvent, readEvent } from './events.ts';
import { foldEvents } from './fold-events.ts';
import { readJournal } from './journal.ts';

/** Returns an id that sorts by time, to the millisecond: loops may follow each other fast. */
export function newRunId(
  now: number,
  suffix = Math.random().toString(36).slice(2, 5).padEnd(3, '0'),
): string {
  const [date, time, ms] = new Date(now).toISOString().replace(/[-:Z]/g, '').split(/[T.]/);
  return `${date}-${time}-${ms}${suffix}`;
}

/** Returns the id of the run that a supervisor makes for a loop, from the loop alone. */
export function runIdFor(loop: string, startedAt: number): string {
  return newRunId(startedAt, hashText(loop).slice(0, 3));
}

export function hasStarted(cwd: string, run: string): boolean {
  return readRun(cwd, run).view.startedAt !== null;
}

const mostCandidates = 10;

/** Returns the run ids of this working copy, oldest first. */
export function listRuns(cwd: string): string[] {
  const { runs } = projectPaths(cwd);
  if (!existsSync(runs)) return [];
  return readdirSync(runs, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(runPaths(cwd, entry.name).journal))
    .map((entry) => entry.name)
    .sort();
}

/** Returns the latest run of this working copy; null without any. */
export function latestRun(cwd: string): string | null {
  const names = listDir(projectPaths(cwd).runs);
  return names.findLast((name) => existsSync(runPaths(cwd, name).journal)) ?? null;
}

/** Finds a run by `latest`, an id, or the beginning of one. */
export function findRun(cwd: string, name?: string): string {
  return pickRun(asRuns(listRuns(cwd)), name).run;
}

export function asRuns(ids: readonly string[]): { readonly run: string }[] {
  return ids.map((run) => ({ run }));
}

/** The same among these runs, which are sorted. */
export function pickRun<T extends { readonly run: string }>(runs: readonly T[], name = 'latest'): T {
  const matches = name === 'latest' ? runs.slice(-1) : runs.filter(({ run }) => run.startsWith(name));
  const [only, ...others] = matches;
  const match = matches.find(({ run }) => run === name) ?? (others.length === 0 ? only : undefined);
  if (match !== undefined) return match;
  const latest = runs.at(-1)?.run;
  if (latest === undefined)
    throw new RalphError('no-run', 'there is no run in this folder yet', {
      remedy: 'ralph run -p "your task"',
    });
  if (only === undefined)
    throw new RalphError('no-run', `there is no run "${name}" here; the latest is ${latest}`, {
      remedy: 'ralph show latest',
    });
  const candidates = matches.slice(-mostCandidates).map(({ run }) => run);
  const more = matches.length > candidates.length ? `the last of ${matches.length}: ` : '';
  const message = `"${name}" is the beginning of several runs (${more}${candidates.join(', ')})`;
  throw new RalphError('no-run', message, { remedy: `ralph show ${candidates.at(-1)}` });
}

/** A run read from its journal, with the events that it can be resumed from. */
export type RunRead = Readonly<ReturnType<typeof runOf>>;

export function readRun(cwd: string, run: string): RunRead {
  return readRunAt(run, runPaths(cwd, run).journal);
}

export function readRunAt(run: string, journal: string): RunRead {
  return runOf(run, readJournal(journal));
}

export function readRunLines(run: string, lines: readonly string[]): RunRead {
  return runOf(run, readEventLines(lines, readEvent));
}

function runOf(
  run: string,
  { events, damaged, unknown }: Skipped & { readonly events: readonly JournalEvent[] },
) {
  return {
    events,
    started: last(events, 'run.started'),
    decided: last(events, 'decision'),
    view: { ...foldEvents(run, events), damaged, unknown },
  };
}

export function last<T extends JournalEvent['type']>(
  events: readonly JournalEvent[],
  type: T,
): EventOf<T> | undefined {
  return events.findLast((event): event is JournalEvent & EventOf<T> => event.type === type);
}
