/** What each submission has one record of, under its key: what was ordered, the end of what it prints, its state. */
export const submissionShelves = ['orders', 'tails', 'carried'] as const;

/** Small records by key; `loops` has one for each loop. */
export type Shelf = 'loops' | 'lanes' | 'hosts' | 'fleet' | (typeof submissionShelves)[number];

/** Limits on how many iterations run or start. Null is no limit. */
export type SeatRules = {
  readonly max: number | null;
  readonly perMinute: number | null;
  readonly leaseMs: number;
};

export type Seated =
  | { readonly ok: true }
  /** `until` is when the next start is free; null where it waits for the end of another iteration. */
  | { readonly ok: false; readonly taken: number; readonly until: number | null };

/**
 * What the engine needs of a database. Each call is done as a whole or not at all, and fails after some seconds where
 * the database does not answer.
 */
export type Store = {
  get(shelf: Shelf, key: string): Promise<string | null>;
  all(shelf: Shelf): Promise<ReadonlyMap<string, string>>;
  /** Writes `after` where `before` still stands; null is nothing. */
  swap(shelf: Shelf, key: string, before: string | null, after: string | null): Promise<boolean>;
  /** Adds to a list, which keeps its newest lines. */
  append(list: string, lines: readonly string[], keep: number): Promise<void>;
  /** The newest lines, oldest first. */
  last(list: string, count: number): Promise<string[]>;
  /** The oldest line, which is gone then. */
  takeFirst(list: string): Promise<string | null>;
  clear(list: string): Promise<void>;
  keys(shelf: Shelf): Promise<string[]>;
  /** The names of all lists that have a line. */
  lists(): Promise<string[]>;
  /** Takes a seat, or starts once more on the one it has. Seats that nobody keeps are free after the lease. */
  sit(seat: string, start: string, rules: SeatRules): Promise<Seated>;
  keepSeat(seat: string, leaseMs: number): Promise<void>;
  /** With `start`, that never began. */
  stand(seat: string, start?: string): Promise<void>;
  lane(name: string): Lane;
  close(): Promise<void>;
};

/** A store, and how time goes for those who use it. */
export type Engine = { readonly store: Store; readonly leaseMs: number; readonly now: () => number };

/** A queue of loops that wait, or are held by somebody who has to renew that. An entry is there once. */
export type Lane = {
  add(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Takes the first that is due. */
  take(token: string, host: string): Promise<{ readonly id: string; readonly addedAt: number } | null>;
  renew(id: string, token: string): Promise<boolean>;
  /** Back to the others: at once, or not before then. */
  putBack(id: string, token: string, until: number | null): Promise<void>;
  /** Holds it no more and takes it out. */
  drop(id: string, token: string): Promise<void>;
  /** Takes one out that nobody holds. */
  remove(id: string): Promise<void>;
  /** One that waits for a time is due now. */
  wake(id: string): Promise<void>;
  /** Those whose holder has not renewed them are free for others. */
  rescue(): Promise<void>;
};

/** How long a holder may be silent, and how often somebody looks for silent ones. */
export type LeaseTimes = { readonly leaseMs: number; readonly checkMs: number };
