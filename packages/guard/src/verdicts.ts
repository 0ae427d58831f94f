import type { GuardVerdict } from './check-types.ts';
import type { Finding, Verdict } from './model.ts';

const order: readonly Verdict[] = ['allow', 'warn', 'deny'];

export function worst(findings: Iterable<Finding>): Finding {
  let finding: Finding = { verdict: 'allow' };
  for (const next of findings)
    if (order.indexOf(next.verdict) > order.indexOf(finding.verdict)) finding = next;
  return finding;
}

export function toVerdict({ verdict, category, reason }: Finding): GuardVerdict {
  return { verdict, category: category ?? null, reason: reason ?? null };
}
