import type { CheckView, IterationView } from '../../journal/run-view.ts';

export type Status = 'needs-you' | 'running' | 'waiting' | 'paused' | 'done' | 'stopped' | 'failed';

const order: readonly Status[] = ['needs-you', 'running', 'waiting', 'paused', 'failed', 'stopped', 'done'];

type Ranked = { readonly id: string; readonly status: Status; readonly startedAt: number | null };

/** Those that need a person first, then what goes on, then the newest. */
export function byUrgency(a: Ranked, b: Ranked): number {
  const rank = ({ status }: Ranked) => (isLive(status) ? order.indexOf(status) : order.length);
  return rank(a) - rank(b) || (b.startedAt ?? 0) - (a.startedAt ?? 0) || (a.id < b.id ? -1 : 1);
}

export function isLive(status: Status): boolean {
  return status !== 'done' && status !== 'stopped' && status !== 'failed';
}

/** The checks of an iteration, with the names that their logs have in an address: `guardrail-0`, `verify-1`. */
export function checksOf({ guardrails, verify }: IterationView): (CheckView & { readonly name: string })[] {
  return [
    ...guardrails.map((check, index) => ({ ...check, name: `guardrail-${index}` })),
    ...verify.map((check, index) => ({ ...check, name: `verify-${index}` })),
  ];
}

export function loopPath(id: string): string {
  return `/api/loops/${encodeURIComponent(id)}`;
}
