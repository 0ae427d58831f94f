import { noUsage, type Usage } from '../core/turn.ts';
import type { Mark, Picture } from '../view/picture.ts';

/** Where a loop stands, for somebody who looks at many. */
export type Status = 'needs-you' | 'running' | 'waiting' | 'paused' | 'done' | 'stopped' | 'failed';

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
};

const shownMarks = 40;
const order: readonly Status[] = ['needs-you', 'running', 'waiting', 'paused', 'failed', 'stopped', 'done'];

/** Those that need a person first, then what goes on, then the newest. */
export function byUrgency(a: LoopSummary, b: LoopSummary): number {
  const rank = ({ status }: LoopSummary) => (isLive(status) ? order.indexOf(status) : order.length);
  return rank(a) - rank(b) || (b.startedAt ?? 0) - (a.startedAt ?? 0) || (a.id < b.id ? -1 : 1);
}

export function isLive(status: Status): boolean {
  return status !== 'done' && status !== 'stopped' && status !== 'failed';
}

type Known = Pick<LoopSummary, 'id' | 'kind' | 'name' | 'folder' | 'hasTerminal'>;

/** `life` is what the system knows: whether a process drives the loop, and whether it is held. */
export function summarise(picture: Picture, known: Known, life: 'alive' | 'paused' | 'dead'): LoopSummary {
  const last = picture.iterations.at(-1);
  const { stories } = picture;
  return {
    ...known,
    title: firstLine(picture.task),
    agent: picture.agent ?? '',
    ...statusOf(picture, life),
    iteration: last?.iteration ?? 0,
    of: last?.of ?? picture.limits?.iterations ?? null,
    startedAt: picture.startedAt,
    updatedAt: picture.updatedAt,
    elapsedMs: picture.elapsedMs,
    usage: picture.usage ?? noUsage,
    budgetUsd: picture.limits?.costUsd ?? null,
    stories:
      stories.length === 0
        ? null
        : { done: stories.filter(({ passes }) => passes).length, total: stories.length },
    marks: picture.iterations.slice(-shownMarks).map(({ mark }) => mark),
  };
}

function statusOf(picture: Picture, life: 'alive' | 'paused' | 'dead'): { status: Status; detail: string } {
  const { state, outcome, needs, because, waitFor, tool } = picture;
  if (life !== 'dead' && needs?.kind === 'answer') return { status: 'needs-you', detail: needs.text };
  if (life === 'paused') return { status: 'paused', detail: 'paused by a person' };
  if (life === 'alive' && state === 'waiting') return { status: 'waiting', detail: waitFor ?? 'waiting' };
  if (life === 'alive' && (state === 'going' || state === 'abandoned'))
    return { status: 'running', detail: tool ? `${tool.name} ${tool.summary}`.trim() : doing(picture) };
  if (outcome === 'PROMISE_ACCEPTED') return { status: 'done', detail: because ?? 'done' };
  if (needs?.kind === 'answer') return { status: 'needs-you', detail: needs.text };
  if (outcome === 'CANCELLED' || outcome === 'INTERRUPTED')
    return { status: 'stopped', detail: because ?? 'stopped' };
  if (needs !== null) return { status: 'failed', detail: needs.text };
  return { status: 'failed', detail: 'its process is gone: it was killed' };
}

function doing({ iterations }: Picture): string {
  const last = iterations.at(-1);
  const check = last?.guardrails.find(({ ok }) => ok === null);
  if (check) return `checks: ${check.command}`;
  return last?.agentMs === null ? 'the agent is thinking' : 'between two iterations';
}

function firstLine(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').slice(0, 200);
}
