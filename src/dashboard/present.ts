import type { Outcome } from '../core/outcome.ts';
import { needsYou, whyText } from '../fleet/why.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import type { Mark, Picture } from '../view/picture.ts';
import { needsOf } from '../view/picture-fold.ts';
import type { LoopSource } from './sources.ts';

/** What a journal or a timeline tells, with what else is known: what the fleet says, and whether anybody is there. */
export function present(picture: Picture, source: LoopSource, now: number): Picture {
  const loop = source.worker?.loop ?? null;
  if (loop !== null) return layFleet(picture, loop, now);
  const isOpen = picture.state === 'going' || picture.state === 'waiting';
  if (source.life === 'dead' && isOpen && source.worker === null) return died(picture);
  const isAnswered = source.question !== null && source.question !== 'open';
  return isAnswered && picture.needs?.kind === 'answer' ? { ...picture, needs: null } : picture;
}

function died(picture: Picture): Picture {
  const text = 'its process is gone: it was killed';
  const over = { state: 'abandoned', tool: null, waitUntil: null, waitFor: null } as const;
  return { ...closed(picture, 'cut', picture.updatedAt), ...over, needs: { kind: 'look', text } };
}

/** The record of the fleet is the truth about a worker: its journal ends with every iteration. */
function layFleet(picture: Picture, loop: LoopRecord, now: number): Picture {
  const { status } = loop;
  if (status === 'stopped' || status === 'failed') return ended(picture, loop, now);
  const { why } = loop;
  const text = why.detail ?? whyText(why, now);
  const isBetween = loop.iteration === loop.ended;
  const asks = needsYou(why.state);
  const waits = why.state === 'backoff' || why.state === 'limit' || why.state === 'queued';
  const isHeld = (status === 'paused' || loop.held) && isBetween;
  return {
    ...picture,
    state: waits || isHeld ? 'waiting' : 'going',
    waitFor: waits || isHeld ? (isHeld && !asks ? 'paused by a person' : text) : null,
    waitUntil: waits ? (why.until ?? null) : null,
    // The end of the last iteration was none of the loop.
    outcome: asks ? picture.outcome : null,
    because: asks ? text : null,
    exitCode: null,
    endedAt: null,
    needs: asks ? { kind: 'answer', text } : null,
  };
}

function ended(picture: Picture, { status, why, end }: LoopRecord, now: number): Picture {
  const outcome = end?.outcome ?? (status === 'failed' ? 'AGENT_FAILED' : 'CANCELLED');
  const because = (outcome === picture.outcome && picture.because) || why.detail || whyText(why, now);
  const marks: Partial<Record<Outcome, Mark>> = { PROMISE_ACCEPTED: 'accepted', CANCELLED: 'stopped' };
  return {
    ...closed(picture, marks[outcome] ?? 'cut', why.since),
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
function closed(picture: Picture, mark: Mark, at: number | null): Picture {
  const last = picture.iterations.at(-1);
  if (last?.mark !== 'running') return picture;
  const agentMs = last.agentMs ?? (last.agentStartedAt === null ? null : (at ?? 0) - last.agentStartedAt);
  const over = { ...last, mark, endedAt: at, agentMs: agentMs === null ? null : Math.max(0, agentMs) };
  return { ...picture, iterations: [...picture.iterations.slice(0, -1), over] };
}
