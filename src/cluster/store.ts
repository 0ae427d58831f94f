import * as v from 'valibot';
import { RalphError } from '../core/error.ts';
import { parseAs } from '../core/parse-as.ts';
import type { openRedis, Shelf } from './redis.ts';

/** The store of a cluster. */
export type Store = Awaited<ReturnType<typeof openRedis>>;

/** A store with the lease and the clock. */
export type TimedStore = { readonly store: Store; readonly leaseMs: number; readonly now: () => number };

/** Version of the records in a store. */
const recordVersion = 1;

/** True if a newer version of ralphkit wrote a record: it is not ours to change. */
export function isNewer(text: string | null): boolean {
  const version = parseAs(v.object({ v: v.number() }), text)?.v;
  return version !== undefined && version > recordVersion;
}

/** The error for a record that only a newer version may change. */
export function newerRecord(what: string): RalphError {
  const message = `the record of ${what} was written by a newer version of ralphkit`;
  return new RalphError('newer-record', message, { remedy: 'update ralphkit on this machine', exitCode: 1 });
}

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
