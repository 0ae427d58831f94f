import * as v from 'valibot';
import type { Completion, Evidence, Feedback, Limits, LoopPlan, LoopState } from '../core/loop.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import type { TaskCounts } from '../core/review/mode.ts';
import type { IterationMode, ReviewFields, ReviewRules } from '../core/review/story.ts';
import type { ContextSize, Limit, Progress, TurnEnd, Usage } from '../core/turn.ts';

// Schemas of the types in core, for journals and state files. The annotations prove that a schema accepts nothing that
// its type does not allow.

const number = v.number();
const text = v.string();
const flag = v.boolean();
const numberOrNone = v.nullable(number);

export const outcome = v.custom<Outcome>(
  (value) => typeof value === 'string' && Object.hasOwn(outcomes, value),
);

export const usage: v.GenericSchema<Usage> = v.object({
  inputTokens: number,
  outputTokens: number,
  cacheReadTokens: number,
  cacheWriteTokens: number,
  costUsd: v.exactOptional(number),
  estimated: v.exactOptional(flag),
});

export const limit: v.GenericSchema<Limit> = v.object({
  kind: v.picklist(['usage', 'auth', 'quota', 'context', 'overload']),
  resetsAt: v.exactOptional(number),
  message: v.exactOptional(text),
});

export const contextSize: v.GenericSchema<ContextSize> = v.object({
  tokens: number,
  window: v.exactOptional(number),
});

export const progress: v.GenericSchema<Progress> = v.object({
  commits: number,
  filesChanged: number,
  files: v.exactOptional(v.array(text)),
  other: v.exactOptional(text),
});

export const turnEnd: v.GenericSchema<TurnEnd> = v.picklist([
  'finished',
  'failed',
  'timed-out',
  'inactive',
  'aborted',
  'empty',
  'limited',
]);

const completion: v.GenericSchema<Completion> = v.object({
  promise: v.exactOptional(v.object({ token: text, match: v.picklist(['claim', 'substring', 'lenient']) })),
  response: v.exactOptional(text),
  pattern: v.exactOptional(text),
  tasks: v.exactOptional(text),
});

const limits: v.GenericSchema<Limits> = v.object({
  iterations: numberOrNone,
  wallMs: numberOrNone,
  tokens: numberOrNone,
  costUsd: numberOrNone,
  iterationTokens: numberOrNone,
  iterationCostUsd: numberOrNone,
  waitMs: number,
  failures: number,
  withoutProgress: number,
  withoutTools: number,
  sameError: number,
});

export const plan: v.GenericSchema<LoopPlan> = v.object({
  id: text,
  completion,
  limits,
  minToolCalls: numberOrNone,
  countInPrompt: flag,
  retryEmpty: v.exactOptional(v.literal(true)),
});

const feedback: v.GenericSchema<Feedback> = v.object({
  action: v.picklist(['APPEND', 'PREPEND', 'REPLACE']),
  text,
});

const counts = {
  iteration: number,
  feedback: v.array(feedback),
  toolCalls: number,
  filesChanged: number,
  usage,
  elapsedMs: number,
  waitedMs: number,
  failures: number,
  overloads: number,
  withoutProgress: number,
  withoutTools: number,
  withoutSign: v.exactOptional(number),
  refusals: v.exactOptional(number),
  lastError: v.nullable(text),
  sameError: number,
  outcome: v.nullable(outcome),
};

/** State of a loop without its plan, which stays the same, and its task, which is large. */
export type SavedLoop = Omit<LoopState, 'plan' | 'task'>;
export const savedLoop: v.GenericSchema<SavedLoop> = v.object(counts);
export const loopState: v.GenericSchema<LoopState> = v.object({ plan, task: text, ...counts });

export const evidence: v.GenericSchema<Evidence> = v.object({
  check: text,
  ok: flag,
  detail: text,
  warning: v.exactOptional(flag),
});

/** Accepts any code, because releases differ in them. */
export const reason = v.object({ code: text, text });
export type RecordedReason = Readonly<v.InferOutput<typeof reason>>;

export const iterationMode: v.GenericSchema<IterationMode> = v.picklist([
  'implement',
  'review',
  'review-fix',
]);

export const reviewRules: v.GenericSchema<ReviewRules> = v.object({ skipReview: flag, reviewCap: number });

export const taskCounts: v.GenericSchema<TaskCounts> = v.object({
  total: number,
  done: number,
  needsReview: number,
  changesRequested: number,
  open: number,
});

export type StoryState = ReviewFields & {
  readonly id: string;
  readonly title: string;
  readonly priority: number;
  readonly dependsOn: readonly string[];
};

export const storyState: v.GenericSchema<StoryState> = v.object({
  id: text,
  title: text,
  priority: number,
  dependsOn: v.array(text),
  passes: flag,
  reviewStatus: v.nullable(v.picklist(['needs_review', 'changes_requested', 'approved'])),
  reviewCount: number,
});
