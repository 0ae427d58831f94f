import { backoffMs, withJitter } from './backoff.ts';
import { spentBudget } from './budget.ts';
import { type Claim, readClaim } from './completion.ts';
import { formatDuration } from './duration.ts';
import { type Check, judge } from './evidence.ts';
import { mentionFeedback, refusalFeedback, rejectionFeedback } from './feedback.ts';
import { limitWords } from './limit-words.ts';
import type { Decision, Feedback, LoopPlan, LoopState, Reason, Verdict } from './loop.ts';
import type { Outcome } from './outcome.ts';
import { errorSignature, madeProgress, stuckReason } from './progress.ts';
import { addUsage, type Limit, type LimitKind, noUsage, type Turn } from './turn.ts';

export type Decided = { readonly loop: LoopState; readonly verdict?: Verdict; readonly decision: Decision };

/** A loop before its first turn. `firstIteration` is 1 where iterations are runs, 0 where they are re-injections. */
export function newLoop(plan: LoopPlan, task: string, firstIteration = 1): LoopState {
  return {
    plan,
    task,
    iteration: firstIteration,
    feedback: [],
    toolCalls: 0,
    filesChanged: 0,
    usage: noUsage,
    elapsedMs: 0,
    waitedMs: 0,
    failures: 0,
    overloads: 0,
    withoutProgress: 0,
    withoutTools: 0,
    lastError: null,
    sameError: 0,
    outcome: null,
  };
}

/**
 * Answers the one question: go on, wait or stop? Pure; every kind of loop asks it after each turn. A driver that needs
 * the claim for its checks reads it once and passes it on.
 */
export function decide(
  before: LoopState,
  turn: Turn,
  checks: readonly Check[],
  claim: Claim = readClaim(turn.text, before.plan.completion, turn),
): Decided {
  const loop = account(before, turn, checks);
  if (turn.end === 'aborted')
    return stop(loop, 'INTERRUPTED', { code: 'interrupted', text: 'the turn was stopped' });
  if (claim.kind === 'blocked') return stop(loop, 'BLOCKED', { code: 'blocked', text: claim.why });
  if (claim.kind === 'decide')
    return stop(loop, 'NEEDS_DECISION', { code: 'needs-decision', text: claim.question });
  if (turn.limit) return atLimit(loop, turn, turn.limit);

  const verdict = claim.kind === 'done' ? judge(loop, turn, checks, claim.tag) : undefined;
  const judged = verdict ? { verdict } : {};
  if (verdict?.accepted) {
    return {
      ...stop(loop, 'PROMISE_ACCEPTED', { code: 'claim-accepted', text: verdict.because }),
      ...judged,
    };
  }
  const newFeedback = [...(turn.allRefused ? [refusalFeedback] : []), ...feedbackOf(claim, verdict, checks)];
  // A turn that broke off did not act on what it was told: tell it again.
  const feedback = turn.end === 'finished' || newFeedback.length > 0 ? newFeedback : loop.feedback;
  return { ...goOn({ ...loop, feedback }, turn, whyGoOn(loop, claim, verdict, checks)), ...judged };
}

/** The agent gets one more turn to find a way that is allowed. */
const refusedTurns = 2;
const allRefused =
  'every tool call was refused by a permission, the guard or the sandbox; allow them with --permissions, or see ralph guard explain COMMAND';

/** Goes on because of `reason`, unless a limit, a budget or a standstill ends the loop. */
function goOn(loop: LoopState, turn: Turn, reason: Reason): Decided {
  const { limits } = loop.plan;
  const most = limits.iterations ?? Number.POSITIVE_INFINITY;
  const isLast = loop.iteration >= most;
  const stuck = stuckReason(loop);
  if ((loop.refusals ?? 0) >= (isLast || stuck ? 1 : refusedTurns))
    return stop(loop, 'BLOCKED', { code: 'blocked', text: allRefused });
  if (loop.failures >= limits.failures) {
    return stop(loop, 'AGENT_FAILED', failuresReason(loop.failures, turn));
  }
  const again = turn.end === 'empty' && loop.plan.retryEmpty === true;
  if (!again && isLast) {
    return stop(loop, 'MAX_ITERATIONS_REACHED', usedUp(most, loop.failures > 0 ? turn : null));
  }
  const spent = spentBudget(loop, turn);
  if (spent) return stop(loop, 'BUDGET_SPENT', spent);
  if (stuck) return stop(loop, 'STUCK', stuck);

  const next = again ? loop : { ...loop, iteration: loop.iteration + 1 };
  return loop.failures > 0 ? wait(next, backoffMs(loop.failures), failureReason(turn)) : go(next, reason);
}

function failureReason({ end, error, limit }: Turn): Reason {
  const why = error ? `: ${error}` : '';
  if (limit?.kind === 'context') return reasonOf('context', why);
  return { code: 'turn-failed', text: `the turn ended as ${end}${why}` };
}

function failuresReason(count: number, { error, limit }: Turn): Reason {
  const text = `${count} failed turns in a row${error ? `, the last one: ${error}` : ''}`;
  if (limit?.kind === 'context') return reasonOf('context', `; ${text}`);
  return { code: 'failures', text };
}

/** Why a loop stops after its last iteration. It says so where that one failed, and nothing came after it. */
export function usedUp(
  iterations: number,
  failed: Pick<Turn, 'end' | 'exitCode' | 'error' | 'limit'> | null,
): Reason {
  const text = `${iterations} iteration${iterations === 1 ? ' is' : 's are'} used up`;
  if (failed === null) return { code: 'max-iterations', text };
  const end = failed.end === 'failed' ? 'for an unknown reason' : failed.end;
  const why = failed.error ?? (failed.exitCode ? `exit code ${failed.exitCode}` : end);
  if (failed.limit?.kind === 'context') return reasonOf('context', `: ${why}; ${text}`);
  return { code: 'max-iterations', text: `${text}; the last one failed: ${why}` };
}

function reasonOf(kind: LimitKind, more: string): Reason {
  const { code, text } = limitWords[kind];
  return { code, text: `${text}${more}` };
}

/** A provider's limit is not the agent's failure: the same iteration is run again when it is over. */
function atLimit(loop: LoopState, turn: Turn, limit: Limit): Decided {
  const reason = reasonOf(limit.kind, limit.message ? `: ${limit.message}` : '');
  switch (limit.kind) {
    case 'auth':
    case 'quota':
      return stop(loop, 'AGENT_FAILED', reason);
    case 'context':
      return goOn(loop, turn, noClaim(loop));
    case 'usage': {
      // Codex tells the time without its seconds: when it has come, the limit may still hold for most of a minute.
      const ms =
        limit.resetsAt === undefined
          ? backoffMs(loop.overloads + 6)
          : Math.max(backoffMs(loop.overloads), limit.resetsAt - turn.endedAt);
      return waitOrStop(loop, turn, ms, reason);
    }
    case 'overload': {
      const ms = withJitter(backoffMs(loop.overloads), loop.plan.id, loop.overloads);
      return waitOrStop(loop, turn, ms, reason);
    }
  }
}

function waitOrStop(loop: LoopState, turn: Turn, ms: number, reason: Reason): Decided {
  const { waitMs, wallMs } = loop.plan.limits;
  if (loop.waitedMs + ms > waitMs) {
    const until = new Date(turn.endedAt + ms).toISOString().slice(11, 16);
    const length = formatDuration(Math.ceil(ms / 1000) * 1000);
    const text = `${reason.text}; waiting until ${until} UTC (${length}) would pass the allowed ${formatDuration(waitMs)}`;
    return stop(loop, 'USAGE_LIMIT', { code: reason.code, text });
  }
  if (wallMs !== null && loop.elapsedMs + ms >= wallMs) {
    return stop(loop, 'BUDGET_SPENT', {
      code: 'budget-time',
      text: `${reason.text}; the time budget ends before it is over`,
    });
  }
  return wait({ ...loop, waitedMs: loop.waitedMs + ms }, ms, reason);
}

/** Books the turn: what it used, what it did, and how often in a row something went wrong. */
function account(loop: LoopState, turn: Turn, checks: readonly Check[]): LoopState {
  const booked = {
    ...loop,
    toolCalls: loop.toolCalls + (turn.toolCalls ?? 0),
    filesChanged: loop.filesChanged + turn.progress.filesChanged + turn.progress.commits,
    usage: turn.usage ? addUsage(loop.usage, turn.usage) : loop.usage,
    elapsedMs: loop.elapsedMs + turn.durationMs,
  };
  const waits = turn.limit?.kind === 'usage' || turn.limit?.kind === 'overload';
  if (waits) return { ...booked, overloads: loop.overloads + 1 };

  const moved = madeProgress(turn);
  const worked = booked.toolCalls > 0 || moved;
  const failed = turn.end !== 'finished' && !(turn.end === 'timed-out' && moved);
  const error = errorSignature(turn, checks);
  return {
    ...booked,
    overloads: 0,
    failures: failed ? loop.failures + 1 : 0,
    // A turn that failed is counted as that, and says nothing about being stuck.
    withoutProgress: moved ? 0 : loop.withoutProgress + (failed ? 0 : 1),
    withoutTools: turn.toolCalls === 0 ? loop.withoutTools + (failed ? 0 : 1) : 0,
    withoutSign: turn.toolCalls === null && !moved ? (loop.withoutSign ?? 0) + (failed ? 0 : 1) : 0,
    refusals: worked ? 0 : (loop.refusals ?? 0) + (turn.allRefused ? 1 : 0),
    lastError: error,
    sameError: error === null ? 0 : error === loop.lastError ? loop.sameError + 1 : 1,
  };
}

function feedbackOf(claim: Claim, verdict: Verdict | undefined, checks: readonly Check[]): Feedback[] {
  const fromChecks = checks.flatMap((check) => (!check.ok && check.feedback ? [check.feedback] : []));
  const explained = checks.some(
    (check) => !check.ok && check.feedback && verdict?.because.startsWith(`${check.check}:`),
  );
  if (claim.kind === 'mention') return [...fromChecks, mentionFeedback(claim)];
  if (claim.kind !== 'done' || !verdict || explained) return fromChecks;
  return [...fromChecks, rejectionFeedback(verdict, claim.tag)];
}

/** Where a task list tells what is done, the agent is asked for one story and for no claim. */
function noClaim({ plan }: LoopState): Reason {
  const text =
    plan.completion.tasks === undefined ? 'the agent did not claim to be done' : 'stories are left';
  return { code: 'no-claim', text };
}

function whyGoOn(
  loop: LoopState,
  claim: Claim,
  verdict: Verdict | undefined,
  checks: readonly Check[],
): Reason {
  if (verdict) return { code: 'claim-rejected', text: verdict.because };
  const failed = checks.find((check) => !check.ok);
  if (failed) return { code: 'checks-failed', text: `${failed.check}: ${failed.detail}` };
  if (claim.kind === 'mention')
    return {
      code: 'mention',
      text:
        claim.form === 'near-miss'
          ? `a tag was almost right: ${JSON.stringify(claim.written)}`
          : `the tag was mentioned, not claimed: ${claim.tag}`,
    };
  return noClaim(loop);
}

function go(loop: LoopState, because: Reason): Decided {
  return { loop, decision: { kind: 'continue', because } };
}

function wait(loop: LoopState, ms: number, because: Reason): Decided {
  const waited = { ...loop, elapsedMs: loop.elapsedMs + ms };
  return { loop: waited, decision: { kind: 'wait', ms, because } };
}

function stop(loop: LoopState, outcome: Outcome, because: Reason): Decided {
  return { loop: { ...loop, outcome }, decision: { kind: 'stop', outcome, because } };
}
