import type { Outcome } from '../core/outcome.ts';
import { needsYou, whyText } from '../fleet/why.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import { abandoned, needsOf } from '../store/fold-events.ts';
import { closeIteration, isOpen, type Mark, type RunView } from '../store/run-view.ts';
import type { LoopSource } from './sources.ts';

/** What a journal or a timeline tells, with what else is known: what the fleet says, and whether anybody is there. */
export function present(view: RunView, source: LoopSource, now: number): RunView {
  const loop = source.worker?.loop ?? null;
  if (loop !== null) return layFleet(view, loop, now);
  if (source.life === 'dead' && isOpen(view) && source.worker === null) return abandoned(view);
  const isAnswered = source.question !== null && source.question !== 'open';
  return isAnswered && view.needs?.kind === 'answer' ? { ...view, needs: null } : view;
}

/** Shows a worker by the record of the fleet, which knows of pauses and waits between two iterations. */
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
    ...view,
    iterations: view.iterations.map((one) => closeIteration(one, marks[outcome] ?? 'cut', why.since)),
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
