import type { TodoItem } from '../agents/adapter.ts';
import type { Decision, Limits, Verdict } from '../core/loop.ts';
import type { Outcome } from '../core/outcome.ts';
import type { TaskCounts } from '../core/review/mode.ts';
import type { IterationMode } from '../core/review/story.ts';
import { plural } from '../core/text.ts';
import { noUsage, type TurnEnd, type Usage } from '../core/turn.ts';
import type { Skipped } from './event-lines.ts';
import type { StoryState } from './loop-schemas.ts';

/** Result of an iteration; every view chooses colour and shape by it. */
export type Mark =
  | 'running'
  | 'accepted'
  | 'rejected'
  | 'failed-checks'
  | 'went-on'
  | 'limited'
  | 'failed'
  | 'needs-person'
  | 'stopped'
  /** Its process died or was replaced before it was decided. */
  | 'cut';

/** A guardrail or verify command in one iteration; `ok` is null while it runs. Times are epoch milliseconds. */
export type CheckView = {
  command: string;
  ok: boolean | null;
  timedOut: boolean;
  exitCode: number | null;
  startedAt: number;
  ms: number | null;
  log: string | null;
};

type ToolView = {
  id: string;
  name: string;
  summary: string;
  ok: boolean | null;
  startedAt: number;
  ms: number | null;
};

/** Most tokens in the agent's context; `window` is null if its size is unknown. */
type ContextView = { tokens: number; window: number | null };

/** `after` and `reviewStatus` are the state at the end of the iteration; null before that. */
export type PrdView = {
  mode: IterationMode;
  story: string | null;
  before: TaskCounts;
  after: TaskCounts | null;
  reviewStatus: string | null;
  /** Changes of the task list that the mode does not allow, and whether they were undone. */
  problems: readonly string[];
  undone: boolean;
};

/** One iteration. One that is run again, after a limit or a crash, is another entry with the same number. */
export type IterationView = {
  /** Its place among all entries, from 0. */
  index: number;
  iteration: number;
  of: number | null;
  /** The last event that changed it. */
  seq: number;
  mark: Mark;
  startedAt: number;
  endedAt: number | null;
  promptChars: number;
  promptStart: string;
  /** Purpose of an iteration of a PRD; null in any other run. */
  prd: PrdView | null;
  agentStartedAt: number | null;
  agentMs: number | null;
  end: TurnEnd | null;
  exitCode: number | null;
  error: string | null;
  text: string;
  /** The last tool calls; `toolCalls` counts them all, and is null if the agent does not report them. */
  tools: ToolView[];
  toolCalls: number | null;
  toolErrors: number;
  usage: Usage | null;
  context: ContextView | null;
  commits: number;
  filesChanged: number;
  /** The first of the changed files. */
  files: readonly string[];
  /** The commit or snapshot at its start and at its end. */
  from: string | null;
  to: string | null;
  guardrails: CheckView[];
  verify: CheckView[];
  scm: { task: string; ok: boolean; detail: string }[];
  /** Tool calls that the guard refused. */
  denials: { tool: string; what: string; category: string; reason: string }[];
  verdict: Verdict | null;
  decision: {
    kind: Decision['kind'];
    because: { code: string; text: string };
    outcome: Outcome | null;
  } | null;
  /** The wait that followed: how long was planned, and how long it was; null until the loop goes on. */
  wait: { startedAt: number; plannedMs: number; ms: number | null } | null;
};

/** View of a run, folded from its events. Every command and the page show this; only `fold-events.ts` writes it. */
export type RunView = {
  run: string;
  /** A worker that only drives a terminal has a timeline and no journal: its tool calls, costs and changes are unknown. */
  source: 'journal' | 'timeline';
  /** The last event. */
  seq: number;
  /** Lines of the journal that were skipped: those that are no events, and events that only a newer release knows. */
  damaged: number;
  unknown: number;
  version: string | null;
  cwd: string | null;
  /** The branch that was checked out when the run began. */
  branch: string | null;
  agent: string | null;
  agentVersion: string | null;
  command: string | null;
  task: string;
  promptFile: string | null;
  /** The task list of a PRD, relative to `cwd`; null in any other run. */
  tasks: string | null;
  limits: Limits | null;
  pid: number | null;
  startedAt: number | null;
  /** The time of the last event. */
  updatedAt: number | null;
  endedAt: number | null;
  /**
   * `going` is all that a journal can tell: whether the process lives is a question for the system. `yielded` is between
   * two iterations that a supervisor starts, each with a process of its own.
   */
  state: 'going' | 'waiting' | 'yielded' | 'ended' | 'abandoned';
  outcome: Outcome | null;
  exitCode: number | null;
  because: string | null;
  becauseCode: string | null;
  /** Set if a person has to act before the loop goes on: to answer, or to look. */
  needs: { kind: 'answer' | 'look'; text: string } | null;
  /** The number of the last iteration that began. */
  iteration: number;
  iterations: IterationView[];
  usage: Usage;
  /** Milliseconds that the loop was at work, with its waits but without the time before a resume. */
  elapsedMs: number;
  claims: { accepted: number; rejected: number };
  todo: readonly TodoItem[];
  /** The tool call that runs. */
  tool: ToolView | null;
  waitUntil: number | null;
  waitFor: string | null;
  /** The stories of a PRD now, and the ids of those that were done when the run began. */
  stories: readonly StoryState[];
  doneBefore: readonly string[] | null;
  /** The last notices for people. */
  notices: { at: number; text: string }[];
};

/** Returns the view of a run without events. */
export function newRunView(run: string): RunView {
  return {
    run,
    source: 'journal',
    seq: 0,
    damaged: 0,
    unknown: 0,
    version: null,
    cwd: null,
    branch: null,
    agent: null,
    agentVersion: null,
    command: null,
    task: '',
    promptFile: null,
    tasks: null,
    limits: null,
    pid: null,
    startedAt: null,
    updatedAt: null,
    endedAt: null,
    state: 'going',
    outcome: null,
    exitCode: null,
    because: null,
    becauseCode: null,
    needs: null,
    iteration: 0,
    iterations: [],
    usage: noUsage,
    elapsedMs: 0,
    claims: { accepted: 0, rejected: 0 },
    todo: [],
    tool: null,
    waitUntil: null,
    waitFor: null,
    stories: [],
    doneBefore: null,
    notices: [],
  };
}

/** Returns an iteration that has just begun. */
export function newIteration(
  { index, iteration, of, at }: { index: number; iteration: number; of: number | null; at: number },
  seq: number,
): IterationView {
  return {
    index,
    iteration,
    of,
    seq,
    mark: 'running',
    startedAt: at,
    endedAt: null,
    promptChars: 0,
    promptStart: '',
    prd: null,
    agentStartedAt: null,
    agentMs: null,
    end: null,
    exitCode: null,
    error: null,
    text: '',
    tools: [],
    toolCalls: 0,
    toolErrors: 0,
    usage: null,
    context: null,
    commits: 0,
    filesChanged: 0,
    files: [],
    from: null,
    to: null,
    guardrails: [],
    verify: [],
    scm: [],
    denials: [],
    verdict: null,
    decision: null,
    wait: null,
  };
}

/** Returns an iteration that ends at some moment, if it was running. */
export function closeIteration(one: IterationView, mark: Mark, at: number): IterationView {
  if (one.mark !== 'running') return one;
  const agentMs = one.agentMs ?? (one.agentStartedAt === null ? null : Math.max(0, at - one.agentStartedAt));
  return { ...one, mark, endedAt: at, agentMs };
}

/** True while a process of the run should be at work or waiting, by its journal. */
export function isOpen({ state }: Pick<RunView, 'state'>): boolean {
  return state === 'going' || state === 'waiting';
}

/** Returns how long the loop has been at work, with its waits. */
export function elapsedAt(view: RunView, now: number): number {
  const { elapsedMs, state, updatedAt, waitUntil } = view;
  const until = state === 'yielded' ? Math.min(now, waitUntil ?? 0) : isOpen(view) ? now : 0;
  return elapsedMs + Math.max(0, until - (updatedAt ?? until));
}

/** Says in a sentence what was skipped of a journal or a timeline; null if nothing was. */
export function skippedText(about: Skipped & { readonly source?: RunView['source'] }): string | null {
  const { damaged, unknown, source = 'journal' } = about;
  const parts = [
    ...(damaged === 0 ? [] : [plural(damaged, 'damaged line')]),
    ...(unknown === 0 ? [] : [`${plural(unknown, 'event')} of a newer release`]),
  ];
  if (parts.length === 0) return null;
  return `${parts.join(' and ')} in the ${source} ${damaged + unknown === 1 ? 'was' : 'were'} skipped`;
}

/** Milliseconds of an iteration by what they were spent on; what is still going on counts up to `now`. */
export type TimeByKind = { agent: number; checks: number; review: number; waiting: number; other: number };

export function timeByKind(one: IterationView, now: number): TimeByKind {
  const agentMs =
    one.agentMs ?? (one.agentStartedAt === null || one.endedAt !== null ? 0 : now - one.agentStartedAt);
  const checkMs = ({ ms, startedAt }: CheckView) => ms ?? Math.max(0, (one.endedAt ?? now) - startedAt);
  const checks = [...one.guardrails, ...one.verify].reduce((sum, check) => sum + checkMs(check), 0);
  const waiting = one.wait === null ? 0 : (one.wait.ms ?? Math.max(0, now - one.wait.startedAt));
  const whole = (one.endedAt ?? now) - one.startedAt;
  const isReview = one.prd?.mode === 'review';
  return {
    agent: isReview ? 0 : Math.max(0, agentMs),
    review: isReview ? Math.max(0, agentMs) : 0,
    checks,
    waiting,
    other: Math.max(0, whole - Math.max(0, agentMs) - checks),
  };
}
