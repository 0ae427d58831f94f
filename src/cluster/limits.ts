import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import type { ClusterLimits } from './cluster.ts';
import type { Store } from './store.ts';

const numberOrNone = v.fallback(v.nullable(v.number()), null);
const limitsSchema = v.object({
  maxParallel: numberOrNone,
  startsPerMinute: numberOrNone,
  maxCostUsd: numberOrNone,
  spentUsd: v.fallback(v.number(), 0),
  holds: v.fallback(v.record(v.string(), v.number()), {}),
});

export async function readLimits(store: Store): Promise<ClusterLimits> {
  return parseLimits(await store.get('fleet', 'limits'));
}

function parseLimits(text: string | null): ClusterLimits {
  return parseAs(limitsSchema, text) ?? v.parse(limitsSchema, {});
}

/** Changes the limits as nobody else does at the same time. */
export async function updateLimits(
  store: Store,
  change: (limits: ClusterLimits) => Partial<ClusterLimits> | null,
): Promise<boolean> {
  for (;;) {
    const text = await store.get('fleet', 'limits');
    const before = parseLimits(text);
    const changed = change(before);
    if (changed === null) return false;
    if (await store.swap('fleet', 'limits', text, JSON.stringify({ ...before, ...changed }))) return true;
  }
}

/** All loops of the account wait until then, or longer where they do already. What is over is forgotten. */
export function holdAccount(store: Store, account: string, until: number, now: number): Promise<boolean> {
  return updateLimits(store, ({ holds }) => {
    const next = { ...holds, [account]: Math.max(until, holds[account] ?? 0) };
    return { holds: Object.fromEntries(Object.entries(next).filter(([, end]) => end > now)) };
  });
}

export function heldUntil({ holds }: ClusterLimits, account: string | null, now: number): number | null {
  const until = account === null ? undefined : holds[account];
  return until !== undefined && until > now ? until : null;
}

export function isBudgetSpent({ maxCostUsd, spentUsd }: ClusterLimits): boolean {
  return maxCostUsd !== null && spentUsd >= maxCostUsd;
}
