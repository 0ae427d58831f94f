import type { Usage } from '../../core/turn.ts';
import type { Mark } from '../../journal/run-view.ts';
import type { Action } from './actions.ts';

/** State of a loop in the list. */
export type Status = 'needs-you' | 'running' | 'waiting' | 'paused' | 'done' | 'stopped' | 'failed';

/** An action that fits the state of a loop, with the question to confirm it. */
export type Offer = { readonly action: Action['action']; readonly ask: string };

/** A loop on the page of all loops. */
export type LoopSummary = {
  readonly id: string;
  readonly kind: 'run' | 'session' | 'worker';
  readonly name: string;
  readonly title: string;
  readonly folder: string;
  readonly agent: string;
  readonly status: Status;
  /** Why, in a few words. */
  readonly detail: string;
  readonly iteration: number;
  readonly of: number | null;
  readonly startedAt: number | null;
  readonly updatedAt: number | null;
  readonly elapsedMs: number;
  readonly usage: Usage;
  readonly budgetUsd: number | null;
  readonly stories: { readonly done: number; readonly total: number } | null;
  readonly marks: readonly Mark[];
  readonly hasTerminal: boolean;
  /** Next command for the user; null while the loop goes on, or if none can be named. */
  readonly next: string | null;
  readonly offers: readonly Offer[];
};

const order: readonly Status[] = ['needs-you', 'running', 'waiting', 'paused', 'failed', 'stopped', 'done'];

/** Those that need a person first, then what goes on, then the newest. */
export function byUrgency(a: LoopSummary, b: LoopSummary): number {
  const rank = ({ status }: LoopSummary) => (isLive(status) ? order.indexOf(status) : order.length);
  return rank(a) - rank(b) || (b.startedAt ?? 0) - (a.startedAt ?? 0) || (a.id < b.id ? -1 : 1);
}

export function isLive(status: Status): boolean {
  return status !== 'done' && status !== 'stopped' && status !== 'failed';
}
