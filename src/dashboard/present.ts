import type { Outcome } from '../core/outcome.ts';
import { needsYou, whyText } from '../fleet/why.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import { needsOf } from '../store/fold-events.ts';
import type { Mark, RunView } from '../store/run-view.ts';
import type { LoopSource } from './sources.ts';

/** What a journal or a timeline tells, with what else is known: what the fleet says, and whether anybody is there. */
export function present(view: RunView, source: LoopSource, now: number): RunView {
  const loop = source.worker?.loop ?? null;
  if (loop !== null) return layFleet(view, loop, now);
  const isOpen = view.state === 'going' || view.state === 'waiting';
  if (source.life === 'dead' && isOpen && source.worker === null) return died(view);
  const isAnswered = source.question !== null && source.question !== 'open';
  return isAnswered && view.needs?.kind === 'answer' ? { ...view, needs: null } : view;
}

function died(view: RunView): RunView {
  const text = 'its process is gone: it was killed';
  const over = { state: 'abandoned', tool: null, waitUntil: null, waitFor: null } as const;
  return { ...closed(view, 'cut', view.updatedAt), ...over, needs: { kind: 'look', text } };
}

/** The record of the fleet is the truth about a worker: its journal ends with every iteration. */
function layFleet(view: RunView, loop: LoopRecord, now: number): RunView {
  const { status } = loop;
  if (status === 'stopped' || status === 'failed') return ended(view, loop, now);
  const { why } = loop;
  const text = why.detail ?? whyText(why, now);
  const isBetween = loop.iteration === loop.ended;
  const asks = needsYou(why.state);
  const waits = why.state === 'backoff' || why.state === 'limit' || why.state === 'queued';
  const isHeld = (status === 'paused' || loop.held) && isBetween;
  return {
    ...view,
    state: waits || isHeld ? 'waiting' : 'going',
    waitFor: waits || isHeld ? (isHeld && !asks ? 'paused by a person' : text) : null,
    waitUntil: waits ? (why.until ?? null) : null,
    // The end of the last iteration was none of the loop.
    outcome: asks ? view.outcome : null,
    because: asks ? text : null,
    exitCode: null,
    endedAt: null,
    needs: asks ? { kind: 'answer', text } : null,
  };
}

function ended(view: RunView, { status, why, end }: LoopRecord, now: number): RunView {
  const outcome = end?.outcome ?? (status === 'failed' ? 'AGENT_FAILED' : 'CANCELLED');
  const because = (outcome === view.outcome && view.because) || why.detail || whyText(why, now);
  const marks: Partial<Record<Outcome, Mark>> = { PROMISE_ACCEPTED: 'accepted', CANCELLED: 'stopped' };
  return {
    ...closed(view, marks[outcome] ?? 'cut', why.since),
    state: 'ended',
    endedAt: why.since,
    outcome,
    because,
    exitCode: end?.exitCode ?? null,
    needs: end?.exitCode === 0 ? null : needsOf(outcome, because),
    waitFor: null,
    waitUntil: null,
    tool: null,
  };
}

/** The last iteration is over, however it was left. */
function closed(view: RunView, mark: Mark, at: number | null): RunView {
  const last = view.iterations.at(-1);
  if (last?.mark !== 'running') return view;
  const agentMs = last.agentMs ?? (last.agentStartedAt === null ? null : (at ?? 0) - last.agentStartedAt);
  const over = { ...last, mark, endedAt: at, agentMs: agentMs === null ? null : Math.max(0, agentMs) };
  return { ...view, iterations: [...view.iterations.slice(0, -1), over] };
}
