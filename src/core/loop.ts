import type { Outcome } from './outcome.ts';
import type { Usage } from './turn.ts';

export type PromiseMatch = 'claim' | 'substring' | 'lenient';

/** What counts as "I am done". Any one that is set is enough. */
export type Completion = {
  /** `<promise>token</promise>` */
  readonly promise?: { readonly token: string; readonly match: PromiseMatch };
  /** `<response>text</response>`, in any case; the first tag wins. */
  readonly response?: string;
  /** A regular expression over the text; the driver matches it. */
  readonly pattern?: string;
  /** The task list whose completion is a claim of its own. */
  readonly tasks?: string;
};

/** Limits of a loop. Null is no limit. */
export type Limits = {
  readonly iterations: number | null;
  readonly wallMs: number | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** The same three for a single iteration. */
  readonly iterationTokens: number | null;
  readonly iterationCostUsd: number | null;
  /** Longest total wait for the provider's limits. */
  readonly waitMs: number;
  /** Failed turns in a row. */
  readonly failures: number;
  /** Iterations in a row without progress; 0 switches the check off. */
  readonly withoutProgress: number;
  /** Turns in a row without a tool call that succeeded; 0 switches the check off. */
  readonly withoutTools: number;
  /** Iterations in a row that end in the same failed check; 0 switches the check off. */
  readonly sameError: number;
};

/** The limits of a loop that nothing bounds. */
export const noLimits: Limits = {
  iterations: null,
  wallMs: null,
  tokens: null,
  costUsd: null,
  iterationTokens: null,
  iterationCostUsd: null,
  waitMs: 0,
  failures: Number.MAX_SAFE_INTEGER,
  withoutProgress: 0,
  withoutTools: 0,
  sameError: 0,
};

type FailAction = 'APPEND' | 'PREPEND' | 'REPLACE';

/** Text that joins the next prompt once. */
export type Feedback = { readonly action: FailAction; readonly text: string };

/** The part of a loop that never changes. */
export type LoopPlan = {
  /** Names the loop; also the seed of the jitter. */
  readonly id: string;
  readonly completion: Completion;
  readonly limits: Limits;
  /** Tool calls since the start that a claim needs, each of which succeeded; null where the agent cannot report them and nobody asked. */
  readonly minToolCalls: number | null;
  /** Put `Iteration X of Y, Z remaining.` before the prompt. */
  readonly countInPrompt: boolean;
  /** A turn without a word is no iteration: the same one is run again, until the failures are too many. */
  readonly retryEmpty?: true;
};

/** A loop between two turns. Survives a JSON round trip. */
export type LoopState = {
  readonly plan: LoopPlan;
  /** The task as the user wrote it. */
  readonly task: string;
  /** The go that is running or comes next. */
  readonly iteration: number;
  readonly feedback: readonly Feedback[];
  readonly toolCalls: number;
  readonly filesChanged: number;
  readonly usage: Usage;
  readonly elapsedMs: number;
  readonly waitedMs: number;
  /** Failed turns in a row. */
  readonly failures: number;
  /** Overloaded turns in a row. */
  readonly overloads: number;
  readonly withoutProgress: number;
  readonly withoutTools: number;
  /** Turns in a row that changed nothing and of which nobody can tell whether they called a tool. */
  readonly withoutSign?: number;
  /** Turns in which every tool call was refused, until the first call of the loop succeeds. */
  readonly refusals?: number;
  readonly lastError: string | null;
  /** How often in a row the same error came. */
  readonly sameError: number;
  readonly outcome: Outcome | null;
};

/** One check of a claim and its result. */
export type Evidence = {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Passed, but a person should look at it. */
  readonly warning?: boolean;
};

/** A claim judged: `because` names the first check that failed, or says what was shown. */
export type Verdict = {
  readonly accepted: boolean;
  readonly because: string;
  readonly evidence: readonly Evidence[];
};

/** Why, for programs (`code`) and for people (`text`). */
export type Reason = { readonly code: ReasonCode; readonly text: string };

type ReasonCode =
  | 'claim-accepted'
  | 'claim-rejected'
  | 'mention'
  | 'no-claim'
  | 'checks-failed'
  | 'turn-failed'
  | 'max-iterations'
  | 'blocked'
  | 'needs-decision'
  | 'no-progress'
  | 'no-tool-calls'
  | 'same-error'
  | 'budget-time'
  | 'budget-tokens'
  | 'budget-cost'
  | 'usage-limit'
  | 'overloaded'
  | 'auth'
  | 'quota'
  | 'context'
  | 'failures'
  | 'interrupted'
  | 'cancelled';

/** Continue, wait or stop. The next prompt comes from the state beside it: `composePrompt(loop)`. */
export type Decision =
  | { readonly kind: 'continue'; readonly because: Reason }
  /** Wait, then run the iteration that the state names. */
  | { readonly kind: 'wait'; readonly ms: number; readonly because: Reason }
  | { readonly kind: 'stop'; readonly outcome: Outcome; readonly because: Reason };
