import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';

/** Shelves with one record for each submission: its order, the end of its output, its run state. */
export const submissionShelves = ['orders', 'tails', 'runStates'] as const;

/** Small records by key; `loops` has one for each loop, `aside` those that nobody can read. */
type Shelf = 'loops' | 'aside' | 'queues' | 'hosts' | 'fleet' | (typeof submissionShelves)[number];

/** Version of the records in a store. */
const recordVersion = 1;

/** True if a newer version of ralphkit wrote a record: it is not ours to change. */
export function isNewer(text: string | null): boolean {
  const version = parseAs(v.object({ v: v.number() }), text)?.v;
  return version !== undefined && version > recordVersion;
}

/** Reads the answer of a database: 0 is a slot, -1 is none, anything else the time until the next start. */
export function slotAnswer(wait: number): SlotAnswer {
  if (wait === 0) return { ok: true };
  return { ok: false, until: wait < 0 ? null : Date.now() + wait };
}

/** Limits on how many iterations run or start. Null is no limit. */
type SlotRules = {
  readonly max: number | null;
  readonly perMinute: number | null;
  readonly leaseMs: number;
};

export type SlotAnswer =
  | { readonly ok: true }
  /** `until` is the time of the next start; null if it waits for the end of another iteration. */
  | { readonly ok: false; readonly until: number | null };

/** Small records by key. */
export type Records = {
  get(shelf: Shelf, key: string): Promise<string | null>;
  all(shelf: Shelf): Promise<ReadonlyMap<string, string>>;
  keys(shelf: Shelf): Promise<string[]>;
  /** Writes `after` if the value still is `before`; null stands for no record. */
  swap(shelf: Shelf, key: string, before: string | null, after: string | null): Promise<boolean>;
};

/** Lists of lines by name. */
export type Lists = {
  /** Adds to a list and drops its oldest lines beyond `keep`. */
  append(list: string, lines: readonly string[], keep: number): Promise<void>;
  /** The newest lines, oldest first. */
  last(list: string, count: number): Promise<string[]>;
  /** Removes the oldest line and returns it. */
  takeFirst(list: string): Promise<string | null>;
  clear(list: string): Promise<void>;
  /** The names of all lists that have a line. */
  lists(): Promise<string[]>;
};

/** Slots that limit how many iterations run at the same time, and how many start in a minute. */
export type Slots = {
  /** Takes a slot, or starts again on one that it holds. A slot expires after the lease unless it is renewed. */
  takeSlot(slot: string, start: string, rules: SlotRules): Promise<SlotAnswer>;
  keepSlot(slot: string, leaseMs: number): Promise<void>;
  /** With `start`, also takes back that start: it never began. */
  freeSlot(slot: string, start?: string): Promise<void>;
};

/** The database of a cluster. Each call is atomic, and fails after some seconds if the database does not answer. */
export type Store = Records &
  Lists &
  Slots & {
    queue(name: string): LoopQueue;
    close(): Promise<void>;
  };

/**
 * Changes one record atomically. `change` gets the newest text and may be called several times; it returns the next text, null to remove the record, or undefined to leave it. False if it was left.
 */
export async function updateRecord(
  store: Store,
  shelf: Shelf,
  key: string,
  change: (text: string | null) => string | null | undefined,
): Promise<boolean> {
  for (;;) {
    const before = await store.get(shelf, key);
    const after = change(before);
    if (after === undefined) return false;
    if (await store.swap(shelf, key, before, after)) return true;
  }
}

/** A store with the lease and the clock. */
export type TimedStore = { readonly store: Store; readonly leaseMs: number; readonly now: () => number };

/** A queue of loops. A machine that takes one holds it as long as it renews the lease. */
export type LoopQueue = {
  add(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Takes the first loop that is due. */
  take(token: string, host: string): Promise<{ readonly id: string; readonly addedAt: number } | null>;
  renew(id: string, token: string): Promise<boolean>;
  /** Returns a loop to the queue, due at once or at a time. */
  putBack(id: string, token: string, until: number | null): Promise<void>;
  /** Removes a loop that the caller holds. */
  drop(id: string, token: string): Promise<void>;
  /** Removes a loop that nobody holds. */
  remove(id: string): Promise<void>;
  /** Makes a delayed loop due now. */
  wake(id: string): Promise<void>;
  /** Returns loops with an expired lease to the queue. */
  rescue(): Promise<void>;
};

export type LeaseTimes = {
  readonly leaseMs: number;
  /** Interval of the look for expired leases. */
  readonly checkMs: number;
  /** A call to the database fails after that time. */
  readonly callMs: number;
};
