import * as v from 'valibot';
import { outcome, reason } from '../journal/loop-schemas.ts';

// End of an iteration, as it goes between processes and machines, and into commits.

const count = v.number();

export const spent = v.object({ costUsd: v.number(), tokens: count });

const counts = {
  because: reason,
  /** Iterations that count now. One that a usage limit cut does not count, and runs again. */
  iterations: count,
  /** Failed turns in a row, and how many of them end the loop. */
  failures: count,
  maxFailures: count,
};

/** Decision after an iteration: made by the run itself or, for a plain worker, when the end is booked. */
const decision = v.variant('kind', [
  v.object({ kind: v.literal('continue'), ...counts }),
  v.object({ kind: v.literal('wait'), ms: v.number(), ...counts }),
  /** `exitCode` is set by a run that ended itself or could not begin; otherwise the outcome has one. */
  v.object({ kind: v.literal('stop'), outcome, exitCode: v.exactOptional(v.number()), ...counts }),
]);

export const turnEnd = v.object({
  how: v.picklist(['exited', 'inactive', 'done', 'lost', 'limited', 'wrapped-up']),
  /** Exit code of the agent; null if it has none. */
  exitCode: v.nullable(v.number()),
  /** True if the done pattern matched the output of a plain worker. */
  doneMatched: v.boolean(),
  /** End of the usage limit that cut a plain worker, if it is known. */
  limitUntil: v.exactOptional(v.number()),
  /** Cost, if it is known. */
  spent: v.exactOptional(spent),
  /** Decision of the run itself. Without it, `decide` judges the turn that the other fields describe. */
  decision: v.exactOptional(decision),
});

export type Spent = Readonly<v.InferOutput<typeof spent>>;
export type LoopDecision = Readonly<v.InferOutput<typeof decision>>;
export type TurnEnd = Readonly<v.InferOutput<typeof turnEnd>>;
export type IterationEnd = TurnEnd & { readonly at: number };
/** An end with the decision on it. */
export type DecidedEnd = IterationEnd & { readonly decision: LoopDecision };
