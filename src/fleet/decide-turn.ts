import { decide, newLoop } from '../core/decide.ts';
import { type LoopPlan, type LoopState, noLimits } from '../core/loop.ts';
import type { Turn } from '../core/turn.ts';
import type { RecordedDecision } from '../journal/turn-events.ts';
import type { LoopRecord } from './files/loops.ts';
import type { IterationEnd, LoopDecision } from './iteration-end.ts';

/** Failed iterations in a row that end the loop of a plain worker. */
export const maxFailures = 5;

/** Returns the decision of the run or, for a plain worker, of `decide` about its turn. */
export function decisionOn(loop: LoopRecord, end: IterationEnd): LoopDecision {
  if (end.decision) return end.decision;
  const state = { ...newLoop(planOf(loop), '', loop.iteration), failures: loop.failures };
  const decided = decide(state, turnOf(loop, end), []);
  return loopDecision(decided.decision, decided.loop, maxFailures);
}

/** Returns a decision with the counts after it, as the fleet books it. */
export function loopDecision(
  decision: RecordedDecision,
  { iteration, failures }: Pick<LoopState, 'iteration' | 'failures'>,
  maxFailures: number,
): LoopDecision {
  // The state holds the number of the next iteration or, after a stop, of the last one.
  const iterations = decision.kind === 'stop' ? iteration : iteration - 1;
  return { ...decision, iterations, failures, maxFailures };
}

/** True if the loop waits for the provider, not after a failure. */
export function waitsForProvider({ kind, because }: LoopDecision): boolean {
  return kind === 'wait' && (because.code === 'usage-limit' || because.code === 'overloaded');
}

/** Returns the milliseconds from the start of an iteration to its end. */
export function durationOf({ iterationStartedAt }: LoopRecord, { at }: IterationEnd): number {
  return Math.max(0, at - (iterationStartedAt ?? at));
}

/** Returns the turn of a plain worker. A silent agent has finished, and a match counts whatever the exit code. */
function turnOf(loop: LoopRecord, end: IterationEnd): Turn {
  const { how, exitCode, doneMatched, limitUntil } = end;
  const good = exitCode === 0 || doneMatched || ['inactive', 'done', 'wrapped-up'].includes(how);
  const resets = limitUntil === undefined ? {} : { resetsAt: limitUntil };
  return {
    text: [],
    toolCalls: null,
    end: good ? 'finished' : 'failed',
    exitCode,
    progress: { commits: 0, filesChanged: 0 },
    endedAt: end.at,
    durationMs: durationOf(loop, end),
    patternMatched: doneMatched,
    ...(how === 'limited' && !doneMatched ? { limit: { kind: 'usage', ...resets } } : {}),
  };
}

/** Returns the plan of a plain worker: its settings, and no checks. */
function planOf({ name, settings }: LoopRecord): LoopPlan {
  const { done_pattern: pattern } = settings;
  return {
    id: name,
    completion: pattern === null ? {} : { pattern },
    minToolCalls: null,
    countInPrompt: false,
    limits: {
      ...noLimits,
      iterations: settings.max_iterations,
      failures: maxFailures,
      waitMs: Number.MAX_SAFE_INTEGER,
    },
  };
}
