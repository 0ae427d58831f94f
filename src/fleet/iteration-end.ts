import * as v from 'valibot';
import { outcome, reason } from '../journal/loop-schemas.ts';

// How an iteration ended, as it goes from a process or a machine to whoever books it, and into commits.

const count = v.number();

export const spent = v.object({ costUsd: v.number(), tokens: count });

const counts = {
  because: reason,
  /** Iterations that count now: one that the provider's limit cut does not, and is run again. */
  iterations: count,
  /** Failed turns in a row, and how many of them end the loop. */
  failures: count,
  maxFailures: count,
};

/** What follows an iteration, as `decide` said: in the run itself or, for a plain worker, when the end is booked. */
const decision = v.variant('kind', [
  v.object({ kind: v.literal('continue'), ...counts }),
  v.object({ kind: v.literal('wait'), ms: v.number(), ...counts }),
  /** `exitCode` is that of a run which came to its own end, or could not begin; otherwise that of the outcome. */
  v.object({ kind: v.literal('stop'), outcome, exitCode: v.exactOptional(v.number()), ...counts }),
]);

export const turnEnd = v.object({
  how: v.picklist(['exited', 'inactive', 'done', 'lost', 'limited', 'wrapped-up']),
  /** The agent's own exit code, where it came to one. */
  exitCode: v.nullable(v.number()),
  /** True if the done pattern matched what a plain worker printed. */
  doneMatched: v.boolean(),
  /** The end of a usage limit that cut a plain worker, where it told that. */
  limitUntil: v.exactOptional(v.number()),
  /** What it cost, where that is known. */
  spent: v.exactOptional(spent),
  /** What the run itself decided. Without it, `decide` is asked about the turn that the rest describes. */
  decision: v.exactOptional(decision),
});

export type Spent = Readonly<v.InferOutput<typeof spent>>;
export type LoopDecision = Readonly<v.InferOutput<typeof decision>>;
export type TurnEnd = Readonly<v.InferOutput<typeof turnEnd>>;
export type IterationEnd = TurnEnd & { readonly at: number };
/** An end with what follows from it. */
export type DecidedEnd = IterationEnd & { readonly decision: LoopDecision };
