import { formatDuration } from '../../../core/duration.ts';
import { limitOfReason } from '../../../core/limit-words.ts';
import type { Outcome } from '../../../core/outcome.ts';
import { plural } from '../../../core/text.ts';
import { totalTokens, type Usage } from '../../../core/turn.ts';
import { type IterationView, type Mark, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { costText, formatCost, formatTokens } from '../../terminal/units.ts';
import type { LoopSummary } from '../summarise.ts';
import { isLive, type Status } from '../summary.ts';

/** A time in its two largest units, so that times can be compared at a glance. */
export function duration(ms: number): string {
  if (ms >= 48 * 3_600_000)
    return `${Math.floor(ms / 86_400_000)}d${Math.floor((ms % 86_400_000) / 3_600_000)}h`;
  if (ms >= 3_600_000) return formatDuration(Math.floor(ms / 60_000) * 60_000);
  return formatDuration(ms < 10_000 ? ms : Math.round(ms / 1000) * 1000);
}

export function cost(usage: Usage): string {
  return costText(usage) || 'not reported';
}

export function tokens(usage: Usage): string {
  return formatTokens(totalTokens(usage));
}

export function clock(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

const statusNames: Readonly<Record<Status, string>> = {
  'needs-you': 'needs you',
  running: 'running',
  waiting: 'waiting',
  paused: 'paused',
  done: 'done',
  stopped: 'stopped',
  failed: 'not done',
};

export const outcomeNames: Readonly<Record<Outcome, string>> = {
  PROMISE_ACCEPTED: 'Done',
  MAX_ITERATIONS_REACHED: 'Iterations',
  AGENT_FAILED: 'Agent failed',
  LOOP_FAILED: 'Failed',
  BLOCKED: 'Blocked',
  NEEDS_DECISION: 'Question',
  STUCK: 'Stuck',
  BUDGET_SPENT: 'Budget',
  USAGE_LIMIT: 'Limit',
  CANCELLED: 'Stopped',
  INTERRUPTED: 'Stopped',
};

/** What the badge of a loop says: how it ended, or what it does. */
export function badgeOf({ status, outcome, becauseCode }: LoopSummary): string {
  if (outcome === null || (isLive(status) && status !== 'needs-you')) return statusNames[status];
  const limit = limitOfReason(becauseCode);
  if (limit !== undefined) return capital(markNames[limit.mark]);
  return status === 'done' ? 'Done' : outcomeNames[outcome];
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** From the best to the worst. */
export const markNames: Readonly<Record<Mark, string>> = {
  accepted: 'claim accepted',
  'went-on': 'went on',
  running: 'running',
  'usage-limit': 'usage limit',
  overload: 'overload',
  'context-full': 'context full',
  'no-credit': 'no credit',
  login: 'login',
  'failed-checks': 'a guardrail failed',
  rejected: 'claim rejected',
  'needs-person': 'needs a person',
  failed: 'the turn failed',
  stopped: 'stopped',
  cut: 'cut short',
};

/** An iteration in a few words, a line for each. */
export function describeIteration(one: IterationView | undefined, { source }: RunView, at: number): string {
  if (one === undefined) return '';
  const { agent, review, checks, waiting } = timeByKind(one, at);
  const parts = [
    `Iteration ${one.iteration}: ${markNames[one.mark]}`,
    duration(agent + review + checks + waiting),
    one.usage && `${tokens(one.usage)} tokens`,
    one.usage?.costUsd !== undefined && formatCost(one.usage.costUsd),
    one.context?.window && `context ${percent(one.context.tokens / one.context.window)}`,
    one.prd && `${one.prd.mode} ${one.prd.story ?? ''}`,
    source === 'journal' && plural(one.commits, 'commit'),
  ];
  return parts.filter(Boolean).join('\n');
}
