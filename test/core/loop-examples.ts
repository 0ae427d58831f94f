import { newLoop } from '../../src/core/decide.ts';
import { type Limits, type LoopPlan, type LoopState, noLimits } from '../../src/core/loop.ts';
import type { SavedLoop } from '../../src/journal/loop-schemas.ts';

/** A plan for tests; a limit that is not named is a common one. */
export function aPlan(limits: Partial<Limits> = {}): LoopPlan {
  const common = { iterations: 10, waitMs: 3_600_000, failures: 5, withoutProgress: 3, withoutTools: 3 };
  return {
    id: 'r1',
    completion: { promise: { token: 'DONE', match: 'claim' } },
    limits: { ...noLimits, ...common, sameError: 5, ...limits },
    minToolCalls: 1,
    countInPrompt: false,
  };
}

/** The state of a new loop as a journal keeps it, with some of it changed. */
export function aSavedLoop(change: Partial<LoopState> = {}): SavedLoop {
  const { plan: _plan, task: _task, ...saved } = { ...newLoop(aPlan(), ''), ...change };
  return saved;
}
