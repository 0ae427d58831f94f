import { decide, newLoop } from '../core/decide.ts';
import type { LoopPlan } from '../core/loop.ts';
import { outcomes } from '../core/outcome.ts';
import { totalTokens, type Usage } from '../core/turn.ts';
import type { EventBody, EventOf, JournalEvent } from '../store/events.ts';
import { readJournal } from '../store/journal.ts';
import { runPaths } from '../store/paths.ts';
import { last } from '../store/runs.ts';
import { decisionEvents } from '../store/turn-events.ts';
import { loopDecision } from './decide-turn.ts';
import type { IterationEnd, LoopDecision, Spent } from './iteration-end.ts';
import { appendToRun, type SupervisedRun } from './supervised-run.ts';

/** One iteration of a run, and how its process ended. */
export type RunProcess = {
  readonly iteration: number;
  readonly startedAt: number;
  /** Events of the journal up to this one belong to the iterations before it. */
  readonly since: number;
  readonly at: number;
  readonly how: 'exited' | 'lost';
  readonly exitCode: number | null;
  /** The lines that it printed, at least the last of them. */
  output(): Promise<readonly string[]> | readonly string[];
};

/** What an iteration of a run came to. */
export type RunIteration = {
  /** Without a decision where the process died before the run began. */
  readonly end: IterationEnd;
  /** The last event of the journal that belongs to it. */
  readonly seq: number;
  /** The run has come to its own end, and has told people of it. */
  readonly isTold: boolean;
};

/** Reads what an iteration came to. What the run has decided holds; a process that died is a failed turn of the run. */
export async function readIteration(run: SupervisedRun, process: RunProcess): Promise<RunIteration> {
  const { events, seq } = readJournal(runPaths(run.cwd, run.id).journal);
  const { since, at, how } = process;
  const own = events.filter((event) => event.seq > since);
  const agent = last(own, 'agent.ended');
  const exitCode = agent?.exitCode ?? process.exitCode;
  const end = { at, how, exitCode, doneMatched: false, ...spentOn(agent?.usage) };
  const plan = last(events, 'run.resumed')?.plan ?? last(events, 'run.started')?.plan;
  const decided = decisionIn(own, how);
  if (decided && plan) {
    const decision = runDecision(decided, decided.loop, plan);
    return { end: { ...end, at: Date.parse(decided.at), decision }, seq, isTold: decided.isTold };
  }
  const failure = await failureIn(own, process);
  if (failure) return { end: { ...end, decision: failure }, seq, isTold: false };
  if (plan === undefined) return { end, seq, isTold: false };
  const saved = last(
    events.filter((event) => event.seq <= since),
    'decision',
  )?.loop;
  const dead = decideForDead(run, { plan, saved, usage: agent?.usage }, process);
  return { end: { ...end, decision: dead.decision }, seq: dead.seq, isTold: false };
}

/** What the run itself decided. Where a person stopped it after that, that is its end. */
function decisionIn(
  own: readonly JournalEvent[],
  how: RunProcess['how'],
): (EventOf<'decision'> & { readonly isTold: boolean }) | null {
  const decided = last(own, 'decision');
  const ended = last(own, 'run.ended');
  if (decided === undefined) return null;
  // A process whose window goes away is interrupted, too, which nobody asked for.
  const isCut = how === 'lost' && ended?.outcome === 'INTERRUPTED';
  if (isCut && decided.outcome === 'INTERRUPTED') return null;
  if (ended === undefined || isCut) return { ...decided, isTold: false };
  const { outcome, because } = ended;
  const loop = { ...decided.loop, iteration: decided.iteration };
  return { ...decided, kind: 'stop', outcome, because, loop, isTold: true };
}

/** The run could not begin, or the machine failed it, and another try would not help. Null where it was killed. */
async function failureIn(
  own: readonly JournalEvent[],
  { iteration, exitCode, output }: RunProcess,
): Promise<LoopDecision | null> {
  const failed = last(own, 'run.failed');
  const isBegun = own.some(({ type }) => type === 'run.started' || type === 'run.resumed');
  // A shell reports a signal as 128 and more.
  if (exitCode === null || exitCode >= 128 || (isBegun && !failed)) return null;
  const text = failed?.message ?? errorIn(await output()) ?? `ralph run ended with exit code ${exitCode}`;
  return {
    kind: 'stop',
    outcome: 'AGENT_FAILED',
    because: { code: 'not-started', text },
    exitCode,
    iterations: isBegun ? iteration : iteration - 1,
    failures: 0,
    maxFailures: 0,
  };
}

/** The last error that `ralph` printed. A terminal wraps it over several lines. */
function errorIn(lines: readonly string[]): string | null {
  const start = 'error: ';
  const from = lines.findLastIndex((line) => line.startsWith(start));
  if (from === -1) return null;
  const length = lines.slice(from).findIndex((line) => line.startsWith('  try:') || line.trim() === '');
  return lines
    .slice(from, length === -1 ? undefined : from + length)
    .join('')
    .slice(start.length);
}

/** Judges the turn of a process that died, and writes it down, so that the next process goes on from there. */
function decideForDead(
  run: SupervisedRun,
  {
    plan,
    saved,
    usage,
  }: { plan: LoopPlan; saved: EventOf<'decision'>['loop'] | undefined; usage?: Usage | undefined },
  { iteration, startedAt, at, how, exitCode }: RunProcess,
): { readonly decision: LoopDecision; readonly seq: number } {
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
  const seq = appendToRun(run, bodies, at);
  return { decision: runDecision(decided.decision, decided.loop, plan), seq };
}

/** With the exit code of `ralph run`, which always has something to reach. */
function runDecision(
  decision: Parameters<typeof loopDecision>[0],
  loop: EventOf<'decision'>['loop'],
  { limits }: LoopPlan,
): LoopDecision {
  const made = loopDecision(decision, loop, limits.failures);
  return made.kind === 'stop' ? { ...made, exitCode: outcomes[made.outcome].exitCode } : made;
}

function spentOn(usage: Usage | undefined): { spent?: Spent } {
  return usage === undefined ? {} : { spent: { tokens: totalTokens(usage), costUsd: usage.costUsd ?? 0 } };
}
