import { noUsage } from '../../core/turn.ts';
import { doingNow, titleOf } from '../../journal/run-record.ts';
import type { RunView } from '../../journal/run-view.ts';
import { nextCommand } from './next-command.ts';
import { offersFor } from './offers.ts';
import type { LoopSource } from './sources.ts';
import type { LoopSummary, Status } from './summary.ts';

const shownMarks = 40;

type Standing = { readonly status: Status; readonly detail: string };

/** Summarises a loop for the list. Copies field by field: a source also has secrets that are never sent. */
export function summarise(view: RunView, source: LoopSource): LoopSummary {
  const { id, kind, name, folder, hasTerminal } = source;
  const last = view.iterations.at(-1);
  const { stories } = view;
  const { status, detail } = standingOf(view, source);
  return {
    id,
    kind,
    name,
    folder,
    hasTerminal,
    title: titleOf(view.task),
    agent: view.agent ?? '',
    status,
    detail,
    iteration: view.iteration,
    of: last?.of ?? view.limits?.iterations ?? null,
    startedAt: view.startedAt,
    updatedAt: view.updatedAt,
    elapsedMs: view.elapsedMs,
    usage: view.usage ?? noUsage,
    budgetUsd: view.limits?.costUsd ?? null,
    stories:
      stories.length === 0
        ? null
        : { done: stories.filter(({ passes }) => passes).length, total: stories.length },
    marks: view.iterations.slice(-shownMarks).map(({ mark }) => mark),
    next: nextCommand(view, source, status),
    offers: offersFor(source, status),
  };
}

function standingOf(view: RunView, { life, worker, question }: LoopSource): Standing {
  const { state, outcome, exitCode, needs, because, waitFor } = view;
  if (worker?.loop === null)
    return life === 'alive'
      ? { status: 'running', detail: 'its command runs' }
      : { status: 'stopped', detail: 'its command has ended' };
  if (needs?.kind === 'answer') return { status: 'needs-you', detail: needs.text };
  if (life === 'paused') {
    const detail = state === 'waiting' ? (waitFor ?? 'paused') : 'it pauses after this iteration';
    return { status: 'paused', detail };
  }
  if (state === 'yielded')
    return { status: 'waiting', detail: waitFor ?? 'waits for its supervisor to start the next iteration' };
  if (life === 'alive' && state === 'waiting') return { status: 'waiting', detail: waitFor ?? 'waiting' };
  if (life === 'alive' && (state === 'going' || state === 'abandoned'))
    return { status: 'running', detail: doingNow(view) };
  // A worker that had nothing to reach is complete when its iterations are used up.
  if (outcome === 'PROMISE_ACCEPTED' || exitCode === 0) return { status: 'done', detail: because ?? 'done' };
  if (question === 'answered') return { status: 'stopped', detail: 'you have answered it: resume it' };
  if (question === 'past') return { status: 'stopped', detail: `it asked: ${because}` };
  if (outcome === 'CANCELLED' || outcome === 'INTERRUPTED')
    return { status: 'stopped', detail: because ?? 'stopped' };
  return { status: 'failed', detail: needs?.text ?? because ?? 'it came to no end' };
}
