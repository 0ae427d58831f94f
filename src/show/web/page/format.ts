import { formatDuration } from '../../../core/duration.ts';
import { totalTokens, type Usage } from '../../../core/turn.ts';
import type { Mark } from '../../../journal/run-view.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import type { Status } from '../summary.ts';

/** A time in its two largest units, so that times can be compared at a glance. */
export function duration(ms: number): string {
  if (ms >= 48 * 3_600_000)
    return `${Math.floor(ms / 86_400_000)}d${Math.floor((ms % 86_400_000) / 3_600_000)}h`;
  if (ms >= 3_600_000) return formatDuration(Math.floor(ms / 60_000) * 60_000);
  return formatDuration(ms < 10_000 ? ms : Math.round(ms / 1000) * 1000);
}

export function cost({ costUsd, estimated }: Usage): string {
  return costUsd === undefined ? 'not reported' : `${formatCost(costUsd)}${estimated ? ' (estimated)' : ''}`;
}

export function tokens(usage: Usage): string {
  return formatTokens(totalTokens(usage));
}

export function clock(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export const statusNames: Readonly<Record<Status, string>> = {
  'needs-you': 'needs you',
  running: 'running',
  waiting: 'waiting',
  paused: 'paused',
  done: 'done',
  stopped: 'stopped',
  failed: 'not done',
};

export const markNames: Readonly<Record<Mark, string>> = {
  running: 'running',
  accepted: 'claim accepted',
  rejected: 'claim rejected',
  'failed-checks': 'a guardrail failed',
  'went-on': 'went on',
  limited: 'usage limit',
  failed: 'the turn failed',
  'needs-person': 'needs a person',
  stopped: 'stopped',
  cut: 'cut short',
};
