import * as v from 'valibot';
import { RalphError } from '../core/error.ts';
import { parseAs } from '../core/parse-as.ts';
import type { FleetEvent } from '../fleet/files/events.ts';
import { loopRecord } from '../fleet/files/loop-record.ts';
import type { LoopStep } from '../fleet/files/loops.ts';
import { isWorkerName } from '../fleet/files/paths.ts';
import { spent } from '../fleet/iteration-end.ts';
import { isNewer, type Store } from './store.ts';

const texts = v.pipe(v.array(v.string()), v.readonly());

/** The right to run one iteration. Only its holder may finish it. */
export type Claim = {
  readonly name: string;
  readonly iteration: number;
  readonly maxIterations: number;
  /** Sent with every call; refused once another machine has the loop. */
  readonly token: string;
  /** The lease: the queue that the loop was taken from, and its lock there. All iterations of a holder share it. */
  readonly queue: string;
  readonly lock: string;
};

/** What to do while an iteration runs: go on, or end the agent because of a cancel, or because another machine has the loop. */
export type Beat = { readonly kind: 'go-on' | 'cancelled' | 'lost' };

/** What comes after an iteration. */
export type Next =
  /** With a claim, the caller runs the next iteration at once. Without one, the loop is back in its queue. */
  | { readonly kind: 'continue'; readonly claim: Claim | null }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'paused' }
  | { readonly kind: 'ended'; readonly status: 'stopped' | 'failed'; readonly exitCode: number };

/** Setbacks in a row of the iteration that is due. */
const setbacks = v.object({ looks: v.number(), deaths: v.number() });

export const noSetbacks: Readonly<v.InferOutput<typeof setbacks>> = { looks: 0, deaths: 0 };

/** A loop as it stands in the store: the record of the local fleet, and who has it. */
const entrySchema = v.object({
  v: v.literal(1),
  /** Key of this submission: its order, log and timeline are stored under it. */
  key: v.string(),
  loop: v.object({ ...loopRecord.entries, name: v.pipe(v.string(), v.check(isWorkerName)) }),
  /** The queue that it waits in. */
  queue: v.string(),
  account: v.nullable(v.string()),
  /** Machine that holds it, and its lock in the queue. */
  holder: v.nullable(v.object({ host: v.string(), lock: v.string() })),
  /** Token of the claim that was finished last: the call may be repeated. */
  answered: v.fallback(v.nullable(v.string()), null),
  spent,
  setbacks: v.fallback(setbacks, noSetbacks),
  head: v.nullable(v.string()),
  repo: v.string(),
  branch: v.string(),
  labels: texts,
  tags: texts,
  command: texts,
});
export type Entry = Readonly<v.InferOutput<typeof entrySchema>>;

/** Longest log and timeline of a loop. */
export const maxLines = { events: 500, lines: 1000 } as const;

const maxTries = 50;

/** A step of a loop that also changes the rest of its entry. */
export type EntryStep = LoopStep & { readonly entry?: Partial<Omit<Entry, 'v' | 'key' | 'loop'>> };

export async function readEntry(store: Store, name: string): Promise<Entry | null> {
  return parseEntry(await store.get('loops', name), name);
}

/** Returns all loops, and the records that are no loop to this version. */
export async function readEntries(store: Store) {
  const texts = [...(await store.all('loops'))];
  const records = texts.map(([name, text]) => ({ name, text, entry: parseEntry(text, name) }));
  const unreadable = records.filter(({ entry }) => entry === null);
  return {
    entries: records.flatMap(({ entry }) => entry ?? []),
    unreadable: unreadable.map(({ name, text }) => ({ name, isNewer: isNewer(text) })),
  };
}

/** Moves a malformed record out of the way; one of a newer version stays. True if it was moved. */
export async function setAsideRecord(store: Store, name: string): Promise<boolean> {
  const text = await store.get('loops', name);
  if (text === null || parseEntry(text, name) !== null || isNewer(text)) return false;
  await store.swap('aside', name, await store.get('aside', name), text);
  return store.swap('loops', name, text, null);
}

/**
 * Changes a loop atomically: `step` gets the newest loop and returns what changes, null for nothing. It may be called
 * several times. Returns the loop before and after; null if there is none.
 */
export async function updateEntry(
  store: Store,
  name: string,
  step: (entry: Entry) => EntryStep | null,
): Promise<{ readonly before: Entry; readonly after: Entry; readonly changed: boolean } | null> {
  for (let attempt = 0; attempt < maxTries; attempt++) {
    const text = await store.get('loops', name);
    const before = parseEntry(text, name);
    if (before === null) return null;
    const change = step(before);
    if (change === null) return { before, after: before, changed: false };
    const after = { ...before, ...change.entry, loop: { ...before.loop, ...change.change, lines: [] } };
    if (!(await store.swap('loops', name, text, JSON.stringify(after)))) continue;
    await addLines(store, after.key, change);
    return { before, after, changed: true };
  }
  throw new RalphError('cluster-busy', `the loop '${name}' is changed by others all the time`, {
    exitCode: 1,
  });
}

/** Adds to the log and the timeline. A crash may lose an entry: nothing is decided by them. */
export async function addLines(
  store: Store,
  key: string,
  { lines = [], events = [] }: Pick<LoopStep, 'lines' | 'events'>,
): Promise<void> {
  await Promise.all([
    store.append('log', key, lines, maxLines.lines),
    store.append('events', key, events.map(eventText), maxLines.events),
  ]);
}

/** Reads the record of the loop of that name; null if it is none. */
export function parseEntry(text: string | null, name: string): Entry | null {
  const entry = parseAs(entrySchema, text);
  return entry?.loop.name === name ? entry : null;
}

export function viewOf(entry: Entry) {
  const { loop, holder, repo, branch, labels, tags, command, account, spent, head } = entry;
  const host = isOver(entry) ? null : (holder?.host ?? null);
  const { max_iterations: maxIterations } = loop.settings;
  return { ...loop, maxIterations, host, repo, branch, labels, tags, command, account, spent, head };
}

export function claimOf({ loop, queue, holder }: Entry): Claim {
  const { name, iteration, launch, settings } = loop;
  const lock = holder?.lock ?? '';
  return { name, iteration, maxIterations: settings.max_iterations, token: String(launch), queue, lock };
}

/** Returns what follows a booked iteration for the machine with this lock. */
export function nextOf(entry: Entry, lock: string): Next {
  const { status, waitUntil, end } = entry.loop;
  if (status === 'paused') return { kind: 'paused' };
  if (status !== 'running') return { kind: 'ended', status, exitCode: end?.exitCode ?? 1 };
  if (waitUntil !== null) return { kind: 'wait', until: waitUntil };
  return { kind: 'continue', claim: entry.holder?.lock === lock ? claimOf(entry) : null };
}

export function isCurrent({ loop, holder }: Entry, claim: Claim): boolean {
  return holder !== null && String(loop.launch) === claim.token;
}

export function isOver({ loop }: Entry): boolean {
  return loop.status === 'stopped' || loop.status === 'failed';
}

export function claimLost(name: string): RalphError {
  return new RalphError('claim-lost', `the claim on '${name}' is not valid any more`, { exitCode: 1 });
}

/** Serializes an event; cuts its text, which may be output of an agent. */
function eventText(event: FleetEvent): string {
  return JSON.stringify({ ...event, text: event.text.slice(0, 2000) });
}
