import { isRalphError } from './error.ts';

/** How a loop ended, with the exit code of `ralph run`. The docs and `ralph help exit-codes` are made from these tables. */
export const outcomes = {
  PROMISE_ACCEPTED: { exitCode: 0, meaning: 'done: the claim was accepted' },
  MAX_ITERATIONS_REACHED: { exitCode: 1, meaning: 'the iterations ran out before a claim was accepted' },
  AGENT_FAILED: { exitCode: 3, meaning: 'the agent is missing, logged out, or failed again and again' },
  LOOP_FAILED: {
    exitCode: 2,
    meaning: 'the loop could not go on: its settings, its prompt file or the machine',
  },
  BLOCKED: { exitCode: 4, meaning: 'the agent needs something only a human can give' },
  NEEDS_DECISION: { exitCode: 4, meaning: 'the agent asks a human to decide' },
  STUCK: { exitCode: 6, meaning: 'several iterations brought no progress' },
  BUDGET_SPENT: { exitCode: 7, meaning: 'the budget of time, tokens or money is spent' },
  USAGE_LIMIT: { exitCode: 8, meaning: "the provider's limit lasts longer than the loop may wait" },
  CANCELLED: { exitCode: 130, meaning: 'somebody stopped the loop' },
  INTERRUPTED: { exitCode: 130, meaning: 'a signal stopped the loop' },
} as const satisfies Record<string, { exitCode: number; meaning: string }>;

export type Outcome = keyof typeof outcomes;

/** The outcome of a run whose next iteration could not begin, by the exit code of the error that kept it from that. */
export function outcomeOfExit(exitCode: number | undefined): 'AGENT_FAILED' | 'LOOP_FAILED' {
  return exitCode === outcomes.AGENT_FAILED.exitCode ? 'AGENT_FAILED' : 'LOOP_FAILED';
}

/** Exit codes that no outcome has. */
export const otherExits = {
  usage: { exitCode: 2, meaning: 'wrong settings or wrong use of the command' },
  alreadyRunning: { exitCode: 5, meaning: 'a loop is already running in this working copy' },
  internal: { exitCode: 70, meaning: 'the machine failed (disk, descriptors, memory), or ralph itself' },
  yielded: {
    exitCode: 75,
    meaning: 'stopped after one iteration (--one-iteration); the loop is not over: --resume goes on',
  },
} as const;

/** Code and exit code of anything that was thrown: what nobody foresaw is a failure of the machine, or of ralph itself. */
export function failureOf(error: unknown): { readonly code: string; readonly exitCode: number } {
  return isRalphError(error) ? error : { code: 'internal', exitCode: otherExits.internal.exitCode };
}
