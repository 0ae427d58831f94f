import * as v from 'valibot';
import { backoffMs } from '../core/backoff.ts';
import { parseAs } from '../core/parse-as.ts';
import { addHold, heldUntil, holds } from '../fleet/files/limits.ts';
import type { IterationEnd } from '../fleet/iteration-end.ts';
import { isNewer, newerRecord, type Store, type TimedStore, updateRecord } from './store.ts';

const numberOrNone = v.fallback(v.nullable(v.number()), null);
/** Limits over all machines. Null is no limit. */
const limitsSchema = v.object({
  maxParallel: numberOrNone,
  startsPerMinute: numberOrNone,
  maxCostUsd: numberOrNone,
  /** What all iterations have cost since the limit was set. */
  spentUsd: v.fallback(v.number(), 0),
  holds: v.fallback(holds, {}),
  /** Usage limits in a row of an account that came without a reset time: it waits longer each time. */
  strikes: v.fallback(v.record(v.string(), v.number()), {}),
});
export type ClusterLimits = Readonly<v.InferOutput<typeof limitsSchema>>;

export async function readLimits(store: Store): Promise<ClusterLimits> {
  return parseLimits(await store.get('fleet', 'limits'));
}

function parseLimits(text: string | null): ClusterLimits {
  return parseAs(limitsSchema, text) ?? v.parse(limitsSchema, {});
}

/** Changes the limits atomically; false if `change` returns null. */
export function updateLimits(
  store: Store,
  change: (limits: ClusterLimits) => Partial<ClusterLimits> | null,
): Promise<boolean> {
  return updateRecord(store, 'fleet', 'limits', (text) => {
    if (isNewer(text)) throw newerRecord('the limits');
    const before = parseLimits(text);
    const changes = change(before);
    return changes === null ? undefined : JSON.stringify({ v: 1, ...before, ...changes });
  });
}

/**
 * Lets all loops of an account wait for the end of the limit that an iteration met, and returns that. Without a reset time
 * the wait (`ms` at least) is shared: it grows each time that the account meets the limit again, and others that meet it
 * meanwhile wait for the same end.
 */
export async function holdAccount(
  { store, now }: TimedStore,
  account: string,
  { at, limitUntil }: IterationEnd,
  ms: number,
): Promise<number> {
  let until = at + ms;
  await updateLimits(store, ({ holds, strikes }) => {
    const heldTime = heldUntil(holds, account, now());
    const strike = (strikes[account] ?? 0) + (heldTime === null ? 1 : 0);
    if (limitUntil === undefined) until = heldTime ?? at + Math.max(ms, backoffMs(strike + 6));
    return {
      holds: addHold(holds, account, until, now()),
      ...(limitUntil === undefined ? { strikes: { ...strikes, [account]: strike } } : {}),
    };
  });
  return until;
}

/** Notes that an account works again. */
export async function forgetLimit(store: Store, account: string): Promise<void> {
  const { strikes } = await readLimits(store);
  if (strikes[account] === undefined) return;
  await updateLimits(store, ({ strikes: { [account]: _past, ...others } }) => ({ strikes: others }));
}

export function isBudgetSpent({ maxCostUsd, spentUsd }: ClusterLimits): boolean {
  return maxCostUsd !== null && spentUsd >= maxCostUsd;
}
