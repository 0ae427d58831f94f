import type { Reason } from '../core/loop.ts';
import type { Outcome } from '../core/outcome.ts';
import type { EventBody } from '../store/events.ts';
import { appendEvents } from '../store/journal-append.ts';
import type { SessionLoop } from '../store/session-loops.ts';
import { runEnded } from '../store/turn-events.ts';

/** Appends events to the journal of a loop. */
export function recorder(events: readonly EventBody[], now: () => number): (journal: string) => void {
  return (journal) => appendEvents(journal, events, now);
}

export function endEvent(state: SessionLoop, outcome: Outcome, because: Reason, now: number): EventBody {
  return runEnded({ outcome, because }, state.loop, now - state.startedAt);
}
