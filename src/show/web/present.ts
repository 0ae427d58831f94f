import type { Outcome } from '../../core/outcome.ts';
import { type LoopRecord, needsYou } from '../../fleet/files/loops.ts';
import { whyText } from '../../fleet/why.ts';
import { abandoned, needsOf } from '../../journal/fold-events.ts';
import { closeIteration, isOpen, type Mark, type RunView } from '../../journal/run-view.ts';
import type { LoopSource } from './sources.ts';

/** Completes the view of a journal or timeline with the fleet's state and whether a process drives the loop. */
export function present(view: RunView, source: LoopSource, now: number): RunView {
  const loop = source.worker?.loop ?? null;
  if (loop !== null) return layFleet(view, loop, now);
  if (source.life === 'dead' && isOpen(view) && source.worker === null) return abandoned(view);
  const isAnswered = source.question !== null && source.question !== 'open';
  return isAnswered && view.needs?.kind === 'answer' ? { ...view, needs: null } : view;
}

/**
 * Shows a plain worker by the record of the fleet. The journal of a run tells its own story: the fleet only adds its pauses
 * and queues between two iterations, and an end that a crash kept out of the journal.
 */
function layFleet(view: RunView, loop: LoopRecord, now: number): RunView {
  const { status, why } = loop;
  const isRun = view.source === 'journal';
  if (status === 'stopped' || status === 'failed')
    return isRun && view.state === 'ended' ? view : ended(view, loop, now);
  const isBetween = loop.iteration === loop.ended;
  const asks = needsYou(why.state);
  if (isRun && (asks || !isBetween)) return view;
  const text = view.waitFor ?? why.detail ?? whyText(why, now);
  const waits = why.state === 'backoff' || why.state === 'limit' || why.state === 'queued';
  const isHeld = (status === 'paused' || loop.held) && isBetween;
  return {
    ...view,
    state: waits || isHeld ? 'waiting' : 'going',
    waitFor: waits || isHeld ? (isHeld && !asks ? 'paused by a person' : text) : null,
    waitUntil: waits ? (view.waitUntil ?? why.until ?? null) : null,
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
