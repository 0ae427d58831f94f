/** State of a loop in the list. */
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
