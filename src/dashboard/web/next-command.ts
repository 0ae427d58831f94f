import type { Picture } from '../../view/picture.ts';
import type { LoopSummary } from '../summary.ts';

/** What a person types next, once a loop is over; null where that is theirs to know. */
export function nextCommand(
  { run, outcome, limits }: Picture,
  summary: LoopSummary | undefined,
): string | null {
  if (summary?.kind === 'worker') {
    return `swarm ${summary.status === 'needs-you' ? 'attach' : 'logs'} ${summary.name}`;
  }
  if (summary?.kind === 'session') return `ralph show ${run}`;
  if (outcome === null) return 'ralph run --resume';
  switch (outcome) {
    case 'PROMISE_ACCEPTED':
      return `ralph verdict ${run}`;
    case 'BLOCKED':
    case 'NEEDS_DECISION':
      return 'ralph answer "…" && ralph run --resume';
    case 'MAX_ITERATIONS_REACHED':
      return `ralph run --resume -m ${(limits?.iterations ?? 5) * 2}`;
    default:
      return 'ralph run --resume';
  }
}
