import { decide, newLoop } from '../core/decide.ts';
import type { LoopPlan } from '../core/loop.ts';
import { outcomeOfExit } from '../core/outcome.ts';
import { totalTokens, type Usage } from '../core/turn.ts';
import { takeRefusal } from '../drive/mailbox.ts';
import type { EventBody, JournalEvent } from '../journal/events.ts';
import type { SavedLoop } from '../journal/loop-schemas.ts';
import { last, type RunRead, readRun } from '../journal/runs.ts';
import { decisionEvents, decisionOf } from '../journal/turn-events.ts';
import type { Environment } from '../os/process/program.ts';
import { loopDecision } from './decide-turn.ts';
import type { IterationEnd, LoopDecision, Spent } from './iteration-end.ts';
import { appendToRun, type SupervisedRun } from './supervised-run.ts';

/** One iteration of a run, and how its process ended. */
export type RunProcess = {
  readonly env: Environment;
  readonly iteration: number;
  readonly startedAt: number;
  /** Events of the journal up to this one belong to the iterations before it. */
  readonly since: number;
  readonly at: number;
  readonly how: 'exited' | 'lost';
  readonly exitCode: number | null;
};

export type RunIteration = {
  /** Has no decision if the process died before the run began. */
  readonly end: IterationEnd;
  readonly run: RunRead;
  /** True if the run ended itself and has notified people. */
  readonly isTold: boolean;
};

/** Reads the result of an iteration. The run's own decision holds; a process that died is a failed turn. */
export function readIteration(run: SupervisedRun, process: RunProcess): RunIteration {
  const { since, at, how } = process;
  const latest = readRun(run.cwd, run.id);
  const { events, started } = latest;
  const own = eventsAfter(events, since);
  const agent = last(own, 'agent.ended');
  const exitCode = agent?.exitCode ?? process.exitCode;
  const resetsAt = agent?.limit?.resetsAt;
  const limitUntil = resetsAt === undefined ? {} : { limitUntil: resetsAt };
  const end = { at, how, exitCode, doneMatched: false, ...limitUntil, ...spentOn(agent?.usage) };
  const plan = last(events, 'run.resumed')?.plan ?? started?.plan;
  const failures = latest.decided?.loop.failures ?? 0;
  const counts = { failures, maxFailures: plan?.limits.failures ?? 0 };
  const refusal = refusalOf(run, process, own);
  const result = (more: Partial<IterationEnd>) => ({ end: { ...end, ...more }, run: latest, isTold: false });
  if (refusal) return result({ decision: { ...refusal, ...counts } });
  if (plan === undefined) return result({});

  const ended = last(own, 'run.ended');
  const decided = last(own, 'decision');
  // A lost window interrupts its process, which nobody asked for.
  const isCut = how === 'lost' && ended?.outcome === 'INTERRUPTED';
  if (ended && !isCut) {
    const { outcome, because, iterations, exitCode } = ended;
    const decision = { kind: 'stop', outcome, because, exitCode, iterations, ...counts } as const;
    return { ...result({ at: Date.parse(decided?.at ?? ended.at), decision }), isTold: true };
  }
  const ownDecision = decided && !(isCut && decided.outcome === 'INTERRUPTED') ? decisionOf(decided) : null;
  if (decided && ownDecision) {
    const decision = loopDecision(ownDecision, decided.loop, plan.limits.failures);
    return result({ at: Date.parse(decided.at), decision });
  }
  const decidedBefore = events.filter(({ seq }) => seq <= since);
  const before = { plan, usage: agent?.usage, saved: last(decidedBefore, 'decision')?.loop };
  const decision = decideForDead(run, before, process);
  return { ...result({ decision }), run: readRun(run.cwd, run.id) };
}

/** Returns the failed turns in a row after the run's last decision since an event; null if there is none. */
export function failuresSince(run: SupervisedRun, since: number): number | null {
  const decided = last(eventsAfter(readRun(run.cwd, run.id).events, since), 'decision');
  return decided === undefined || decided.outcome === 'INTERRUPTED' ? null : decided.loop.failures;
}

function eventsAfter(events: readonly JournalEvent[], since: number): JournalEvent[] {
  return events.filter(({ seq }) => seq > since);
}

/** Returns the stop of a run that refused to begin; null if it began or was killed. */
function refusalOf(
  { id }: SupervisedRun,
  { env, iteration, exitCode }: RunProcess,
  own: readonly JournalEvent[],
) {
  const refusal = takeRefusal(env, id);
  const isBegun = own.some(({ type }) => type === 'run.started' || type === 'run.resumed');
  // A shell reports a signal as 128 and more.
  if (isBegun || exitCode === null || exitCode >= 128) return null;
  const { code, text } = refusal ?? {
    code: 'not-started',
    text: `ralph run ended with exit code ${exitCode}`,
  };
  return {
    kind: 'stop',
    outcome: outcomeOfExit(exitCode),
    because: { code, text },
    ...(exitCode === 0 ? {} : { exitCode }),
    iterations: iteration - 1,
  } as const;
}

/** Decides on the turn of a process that died, and writes that into the journal for the next process. */
function decideForDead(
  run: SupervisedRun,
  before: {
    readonly plan: LoopPlan;
    readonly saved: SavedLoop | undefined;
    readonly usage: Usage | undefined;
  },
  { iteration, startedAt, at, how, exitCode }: RunProcess,
): LoopDecision {
  const { plan, saved, usage } = before;
  const state = { ...newLoop(plan, ''), ...saved, plan, task: '', iteration, outcome: null };
  const died =
    how === 'lost' ? 'the window of ralph run was lost' : `ralph run died with exit code ${exitCode}`;
  const turn = {
    text: [],
    toolCalls: null,
    end: 'failed',
    exitCode,
    error: died,
    progress: { commits: 0, filesChanged: 0 },
    endedAt: at,
    durationMs: Math.max(0, at - startedAt),
    ...(usage ? { usage } : {}),
  } as const;
  const decided = decide(state, turn, []);
  const isOver = decided.decision.kind === 'stop';
  const bodies: readonly EventBody[] = [
    { type: 'run.abandoned', swept: [] },
    ...decisionEvents(iteration, decided),
    ...(isOver ? [] : [{ type: 'run.yielded', iteration } as const]),
  ];
  appendToRun(run, bodies, at);
  return loopDecision(decided.decision, decided.loop, plan.limits.failures);
}

function spentOn(usage: Usage | undefined): { spent?: Spent } {
  return usage === undefined ? {} : { spent: { tokens: totalTokens(usage), costUsd: usage.costUsd ?? 0 } };
}
