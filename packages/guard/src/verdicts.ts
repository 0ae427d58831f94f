import type { Category, Finding, Verdict } from './model.ts';

/** What the guard says, and to deny or to warn, why. */
export type GuardVerdict = {
  readonly verdict: 'allow' | 'warn' | 'deny';
  readonly category: Category | null;
  readonly reason: string | null;
};

const order: readonly Verdict[] = ['allow', 'warn', 'deny'];

export function worst(findings: Iterable<Finding>): Finding {
  let found: Finding = { verdict: 'allow' };
  for (const next of findings) if (order.indexOf(next.verdict) > order.indexOf(found.verdict)) found = next;
  return found;
}

export function toVerdict({ verdict, category, reason }: Finding): GuardVerdict {
  return { verdict, category: category ?? null, reason: reason ?? null };
}
