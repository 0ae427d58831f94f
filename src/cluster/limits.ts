import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import { addHold, holds } from '../fleet/files/limits.ts';
import { type Store, updateRecord } from './store.ts';

const numberOrNone = v.fallback(v.nullable(v.number()), null);
/** Limits over all machines. Null is no limit. */
const limitsSchema = v.object({
  maxParallel: numberOrNone,
  startsPerMinute: numberOrNone,
  maxCostUsd: numberOrNone,
  /** What all iterations have cost since the limit was set. */
  spentUsd: v.fallback(v.number(), 0),
  holds: v.fallback(holds, {}),
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
    const before = parseLimits(text);
    const changes = change(before);
    return changes === null ? undefined : JSON.stringify({ ...before, ...changes });
  });
}

/** Lets all loops of an account wait until then. */
export function holdAccount(store: Store, account: string, until: number, now: number): Promise<boolean> {
  return updateLimits(store, (limits) => ({ holds: addHold(limits.holds, account, until, now) }));
}

export function isBudgetSpent({ maxCostUsd, spentUsd }: ClusterLimits): boolean {
  return maxCostUsd !== null && spentUsd >= maxCostUsd;
}
