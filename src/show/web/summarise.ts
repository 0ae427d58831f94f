import { nextCommand as nextOfLoop } from '../../fleet/why.ts';
import { nextCommand, shellWord } from '../../journal/next-command.ts';
import { doingNow, type RunView, titleOf } from '../../journal/run-view.ts';
import { offersFor } from './offers.ts';
import type { LoopSource } from './sources.ts';
import { isLive, type Status } from './summary.ts';

const shownMarks = 40;

type Standing = { readonly status: Status; readonly detail: string };

export type LoopSummary = ReturnType<typeof summarise>;

/** Summarises a loop for the list. Copies field by field: a source also has secrets that are never sent. */
export function summarise(view: RunView, source: LoopSource) {
  const { id, kind, name, folder, hasTerminal } = source;
  const { iteration, startedAt, updatedAt, elapsedMs, usage, branch, outcome, becauseCode, stories } = view;
  const { status, detail } = standingOf(view, source);
  return {
    ...{ id, kind, name, folder, hasTerminal },
    ...{ iteration, startedAt, updatedAt, elapsedMs, usage, branch, outcome, becauseCode },
    title: titleOf(view.task),
    agent: view.agent ?? '',
    /** True if it is a worker that only runs a command: it has no iterations. */
    isCommand: source.worker?.loop === null,
    status,
    /** Why, in a few words. */
    detail,
    of: view.iterations.at(-1)?.of ?? view.limits?.iterations ?? null,
    stories:
      stories.length === 0
        ? null
        : { done: stories.filter(({ passes }) => passes).length, total: stories.length },
    marks: view.iterations.slice(-shownMarks).map(({ mark }) => mark),
    /** Next command for the user; null while the loop goes on, or if none can be named. */
    next: nextOf(view, source, status),
    offers: offersFor(source, status),
  };
}

function nextOf(view: RunView, source: LoopSource, status: Status): string | null {
  if (isLive(status) && status !== 'needs-you') return null;
  if (source.worker !== null) return nextOfWorker(source, status);
  if (source.kind === 'session') return `ralph show ${view.run}`;
  return nextCommand(view, { asks: source.question === 'open', isLatest: source.isLatest });
}

function nextOfWorker({ name, folder, worker }: LoopSource, status: Status): string {
  const loop = worker?.loop ?? null;
  if (loop === null) return `swarm logs ${name}`;
  const isAsked = status === 'needs-you' && loop.options.run !== undefined;
  if (isAsked) return `(cd ${shellWord(folder)} && ralph answer "...") && swarm ralph resume ${name}`;
  return nextOfLoop(name, loop.why) ?? `swarm logs ${name}`;
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
