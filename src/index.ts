/** The package's door: the decision core for people who drive loops of their own. */
export { type Claim, readClaim } from './core/completion.ts';
export { type Decided, decide, newLoop } from './core/decide.ts';
export { RalphError } from './core/error.ts';
export type { Check } from './core/evidence.ts';
export type {
  Completion,
  Decision,
  Evidence,
  Feedback,
  Limits,
  LoopPlan,
  LoopState,
  PromiseMatch,
  Reason,
  Verdict,
} from './core/loop.ts';
export { type Outcome, outcomes } from './core/outcome.ts';
export { completionContract, composePrompt } from './core/prompt.ts';
export type { Limit, Progress, Turn, TurnEnd, Usage } from './core/turn.ts';
