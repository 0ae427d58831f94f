import { isObject } from '../core/json.ts';
import type { EventOf } from '../store/events.ts';
import { openJournal, readJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import { last } from '../store/runs.ts';
import { readText, writeAtomic } from '../system/files.ts';
import { parsed } from './json.ts';

// A run of `ralph run` that moves to another machine: the end of its journal goes along, so that what counts over
// iterations (failures, turns without progress, feedback, tool calls, cost) goes on there instead of beginning anew.

type Carried = {
  readonly run: string;
  /** The iteration of the loop that the run began with. */
  readonly first: number;
  readonly started: EventOf<'run.started'>;
  readonly decided: EventOf<'decision'>;
  /** The protected files as they were when the run began. */
  readonly files: string | null;
};

/** The store is no place for more than that. */
const maxChars = 512 * 1024;

/** A run as the next machine needs it; null where there is nothing to go on with. The prompt is in the order already. */
export function packRun(cwd: string, run: string, first: number): string | null {
  const paths = runPaths(cwd, run);
  const { events } = readJournal(paths.journal);
  const [started, decided] = [last(events, 'run.started'), last(events, 'decision')];
  if (started === undefined || decided === undefined) return null;
  const files = readText(paths.protected);
  const carried: Carried = { run, first, started: { ...started, task: '', cli: [] }, decided, files };
  const text = JSON.stringify(carried);
  return text.length > maxChars ? null : text;
}

/** Puts a run that another machine has gone on with in its place here. Null where there is none, or we know more. */
export function unpackRun(
  cwd: string,
  text: string,
  here: { readonly promptFile: string; readonly task: string },
): { readonly run: string; readonly first: number } | null {
  const carried = readCarried(text);
  if (carried === null) return null;
  const { run, first, started, decided, files } = carried;
  const paths = runPaths(cwd, run);
  const known = readJournal(paths.journal).events;
  if ((last(known, 'decision')?.iteration ?? 0) >= decided.iteration) return null;
  let at = Date.parse(started.at);
  const journal = openJournal(paths.journal, () => at, { root: cwd });
  if (last(known, 'run.started') === undefined) {
    journal.append({ ...bodyOf(started), cwd, ...here });
    if (files !== null) writeAtomic(paths.protected, files, { root: cwd });
  }
  at = Date.parse(decided.at);
  journal.append(bodyOf(decided));
  journal.close();
  return { run, first };
}

function bodyOf<T extends { v: unknown; seq: unknown; at: unknown }>(event: T): Omit<T, 'v' | 'seq' | 'at'> {
  const { v: _v, seq: _seq, at: _at, ...body } = event;
  return body;
}

/** The run is the name of a folder here. */
function readCarried(text: string): Carried | null {
  const value = parsed(text);
  return isObject(value) && isCarried(value) ? value : null;
}

function isCarried(value: Record<string, unknown>): value is Carried & Record<string, unknown> {
  const { run, first, started, decided, files } = value;
  return (
    typeof run === 'string' &&
    /^[\w-]{1,60}$/.test(run) &&
    typeof first === 'number' &&
    isEvent(started, 'run.started') &&
    isEvent(decided, 'decision') &&
    typeof decided.iteration === 'number' &&
    isObject(decided.loop) &&
    (files === null || typeof files === 'string')
  );
}

function isEvent(value: unknown, type: string): value is Record<string, unknown> {
  return isObject(value) && value.type === type && !Number.isNaN(Date.parse(String(value.at)));
}
