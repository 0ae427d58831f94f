/** The package's door: the decision core and the guard, for people who drive loops of their own. */
export {
  type Category,
  checkCommand,
  checkToolCall,
  type GuardError,
  type GuardPlace,
  type GuardVerdict,
} from 'ralphkit-guard';
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
export {
  CONTINUATION_PROMPT_TEMPLATE,
  DEFAULT_COMPLETION_PROMISE,
  DEFAULT_CONFIG,
  DEFAULT_CONTINUATION_DELAY,
  DEFAULT_MAX_ITERATIONS,
  DEFAULT_RECOVERY_WINDOW,
  HOOK_NAME,
} from './drive/embed/constants.ts';
export {
  buildContinuationPrompt,
  detectCompletionPromise,
  detectInMessages,
  detectInTranscript,
} from './drive/embed/detect.ts';
export {
  clearState,
  incrementIteration,
  type Log,
  type RalphLoopCounters,
  type RalphLoopState,
  readState,
  writeState,
} from './drive/embed/embedded-loop.ts';
export { createRalphLoopHook } from './drive/embed/hook.ts';
export type { HostMessage, HostMessages, HostPart } from './drive/embed/host-messages.ts';
export type {
  Hook,
  HookContext,
  RalphLoopConfig,
  RalphLoopHook,
  RalphLoopOptions,
  StartLoopOptions,
  Toast,
} from './drive/embed/types.ts';
export type { Clock } from './os/clock.ts';
