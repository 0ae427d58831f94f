import { RalphError } from '../core/error.ts';
import { isObject } from '../core/json.ts';
import type { Spent } from '../fleet/iteration-end.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import { endIn } from '../store/fleet-loop-record.ts';
import type { LoopRecord, LoopStep } from '../store/fleet-loops.ts';
import type { Claim, ClusterView, Next } from './cluster.ts';
import { parsed } from './json.ts';
import type { Store } from './store.ts';

/** A loop as it stands in the store: the record of the local fleet, and who has it. */
export type Entry = {
  readonly v: 1;
  /** Of this submission: its order, its log and its timeline are kept under it. */
  readonly key: string;
  readonly loop: LoopRecord;
  readonly lane: string;
  readonly account: string | null;
  /** Who has it; the lock is shown to the lane with every call. */
  readonly holder: { readonly host: string; readonly lock: string } | null;
  /** The claim that was finished last and what came after it, for whoever did not hear the answer. */
  readonly answered: { readonly token: string; readonly next: Next } | null;
  readonly spent: Spent;
  readonly head: string | null;
  readonly repo: string;
  readonly branch: string;
  readonly labels: readonly string[];
  readonly tags: readonly string[];
  readonly command: readonly string[];
};

/** What is kept of each loop: enough to see what happened, and no more. */
const kept = { events: 500, lines: 1000 } as const;

const maxTries = 50;

/** A step of a loop that changes what is around its record, too. */
export type EntryStep = LoopStep & { readonly entry?: Partial<Omit<Entry, 'v' | 'key' | 'loop'>> };

export async function readEntry(store: Store, name: string): Promise<Entry | null> {
  const text = await store.get('loops', name);
  return text === null ? null : parseEntry(text);
}

export async function allEntries(store: Store): Promise<Entry[]> {
  return [...(await store.all('loops')).values()].flatMap((text) => parseEntry(text) ?? []);
}

/**
 * Takes one step as nobody else does at the same time: `step` gets the newest loop and says what changes, null for
 * nothing. It may be asked several times. Returns the loop before and after; null where there is none.
 */
export async function updateEntry(
  store: Store,
  name: string,
  step: (entry: Entry) => EntryStep | null,
): Promise<{ readonly before: Entry; readonly after: Entry; readonly changed: boolean } | null> {
  for (let attempt = 0; attempt < maxTries; attempt++) {
    const text = await store.get('loops', name);
    const before = text === null ? null : parseEntry(text);
    if (before === null) return null;
    const taken = step(before);
    if (taken === null) return { before, after: before, changed: false };
    const after = { ...before, ...taken.entry, loop: { ...before.loop, ...taken.change, lines: [] } };
    if (!(await store.swap('loops', name, text, JSON.stringify(after)))) continue;
    await tell(store, after.key, taken);
    return { before, after, changed: true };
  }
  throw new RalphError('cluster-busy', `the loop '${name}' is changed by others all the time`, {
    exitCode: 1,
  });
}

/** The timeline tells what happened and decides nothing: a crash may leave out an entry. */
export async function tell(
  store: Store,
  key: string,
  { lines = [], events = [] }: Pick<LoopStep, 'lines' | 'events'>,
): Promise<void> {
  await store.append(`log:${key}`, lines, kept.lines);
  await store.append(`events:${key}`, events.map(eventText), kept.events);
}

export function parseEntry(text: string): Entry | null {
  const value = parsed(text);
  return isEntry(value) ? { ...value, loop: { ...value.loop, end: endIn(value.loop) } } : null;
}

export function viewOf(entry: Entry): ClusterView {
  const { loop, holder, repo, branch, labels, tags, command, account, spent, head } = entry;
  const { name, status, iteration, startedAt, iterationStartedAt, failures, totalFailures, why, end } = loop;
  return {
    name,
    status,
    iteration,
    maxIterations: loop.settings.max_iterations,
    startedAt,
    iterationStartedAt,
    failures,
    totalFailures,
    why,
    end,
    host: isOver(entry) ? null : (holder?.host ?? null),
    repo,
    branch,
    labels,
    tags,
    command,
    account,
    spent,
    head,
    waitUntil: loop.waitUntil,
    ended: loop.ended,
  };
}

export function claimOf({ loop }: Entry): Claim {
  const { name, iteration, launch, settings } = loop;
  return { name, iteration, maxIterations: settings.max_iterations, token: String(launch) };
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

/** Somebody may print a novel into an event. */
function eventText(event: FleetEvent): string {
  return JSON.stringify({ ...event, text: event.text.slice(0, 2000) });
}

function isEntry(value: unknown): value is Entry {
  if (!isObject(value) || value.v !== 1 || !isObject(value.loop)) return false;
  return typeof value.lane === 'string' && typeof value.key === 'string';
}
