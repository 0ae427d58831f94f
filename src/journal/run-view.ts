import type { TodoItem } from '../agents/adapter.ts';
import type { LimitMark } from '../core/limit-words.ts';
import type { Decision, Limits, Verdict } from '../core/loop.ts';
import type { Outcome } from '../core/outcome.ts';
import type { TaskCounts } from '../core/review/mode.ts';
import type { IterationMode } from '../core/review/story.ts';
import { plural } from '../core/text.ts';
import { type Limit, noUsage, type TurnEnd, type Usage } from '../core/turn.ts';
import type { Skipped } from './event-lines.ts';
import type { StoryState } from './loop-schemas.ts';

/** Result of an iteration; every view chooses colour and shape by it. */
export type Mark =
  | 'running'
  | 'accepted'
  | 'rejected'
  | 'failed-checks'
  | 'went-on'
  | LimitMark
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
export class IterationView {
  /** Its place among all entries, from 0. */
  index: number;
  iteration: number;
  of: number | null;
  /** The last event that changed it. */
  seq: number;
  mark: Mark = 'running';
  startedAt: number;
  endedAt: number | null = null;
  promptStart = '';
  /** Purpose of an iteration of a PRD; null in any other run. */
  prd: PrdView | null = null;
  agentStartedAt: number | null = null;
  agentMs: number | null = null;
  end: TurnEnd | null = null;
  /** The model that the agent named; null if it named none. */
  model: string | null = null;
  exitCode: number | null = null;
  error: string | null = null;
  /** The provider's limit that cut the turn. */
  limit: Limit | null = null;
  text = '';
  /** The last tool calls; `toolCalls` counts them all, and is null if the agent does not report them. */
  tools: ToolView[] = [];
  toolCalls: number | null = 0;
  toolErrors = 0;
  usage: Usage | null = null;
  /** Most tokens in the agent's context; `window` is null if its size is unknown. */
  context: { tokens: number; window: number | null } | null = null;
  commits = 0;
  filesChanged = 0;
  /** The commit or snapshot at its start and at its end. */
  from: string | null = null;
  to: string | null = null;
  guardrails: CheckView[] = [];
  verify: CheckView[] = [];
  /** Tool calls that the guard refused. */
  denials: { tool: string; what: string; category: string; reason: string }[] = [];
  verdict: Verdict | null = null;
  decision: {
    kind: Decision['kind'];
    because: { code: string; text: string };
    outcome: Outcome | null;
  } | null = null;
  /** The wait that followed: how long was planned, and how long it was; null until the loop goes on. */
  wait: { startedAt: number; plannedMs: number; ms: number | null } | null = null;

  constructor(place: Pick<IterationView, 'index' | 'iteration' | 'of' | 'seq' | 'startedAt'>) {
    this.index = place.index;
    this.iteration = place.iteration;
    this.of = place.of;
    this.seq = place.seq;
    this.startedAt = place.startedAt;
  }
}

/** View of a run, folded from its events. Every command and the page show this; only the fold writes it. */
export class RunView {
  run: string;
  /** A worker that only drives a terminal has a timeline and no journal: its tool calls, costs and changes are unknown. */
  source: 'journal' | 'timeline' = 'journal';
  seq = 0;
  /** Lines of the journal that were skipped: those that are no events, and events that only a newer release knows. */
  damaged = 0;
  unknown = 0;
  cwd: string | null = null;
  /** The branch that was checked out when the run began. */
  branch: string | null = null;
  agent: string | null = null;
  agentVersion: string | null = null;
  command: string | null = null;
  task = '';
  /** The task list of a PRD, relative to `cwd`; null in any other run. */
  tasks: string | null = null;
  /** Options of a run over a PRD that the next one needs, too. */
  prdOptions: readonly string[] = [];
  limits: Limits | null = null;
  pid: number | null = null;
  startedAt: number | null = null;
  updatedAt: number | null = null;
  endedAt: number | null = null;
  /**
   * `going` is all that a journal can tell: whether the process lives is a question for the system. `yielded` is between
   * two iterations that a supervisor starts, each with a process of its own.
   */
  state: 'going' | 'waiting' | 'yielded' | 'ended' | 'abandoned' = 'going';
  outcome: Outcome | null = null;
  exitCode: number | null = null;
  because: string | null = null;
  becauseCode: string | null = null;
  /** Set if a person has to act before the loop goes on: to answer, or to look. */
  needs: { kind: 'answer' | 'look'; text: string } | null = null;
  /** The number of the last iteration that began. */
  iteration = 0;
  iterations: IterationView[] = [];
  usage: Usage = noUsage;
  /** Milliseconds that the loop was at work, with its waits but without the time before a resume. */
  elapsedMs = 0;
  claims = { accepted: 0, rejected: 0 };
  todo: readonly TodoItem[] = [];
  tool: ToolView | null = null;
  waitUntil: number | null = null;
  waitFor: string | null = null;
  /** The stories of a PRD now, and the ids of those that were done when the run began. */
  stories: readonly StoryState[] = [];
  doneBefore: readonly string[] | null = null;
  notices: { at: number; text: string }[] = [];

  constructor(run: string) {
    this.run = run;
  }
}

/** Returns an iteration that ends at some moment, if it was running. */
export function closeIteration(one: IterationView, mark: Mark, at: number): IterationView {
  if (one.mark !== 'running') return one;
  const agentMs = one.agentMs ?? (one.agentStartedAt === null ? null : Math.max(0, at - one.agentStartedAt));
  return { ...one, mark, endedAt: at, agentMs };
}

/** The commits or snapshots at the start and the end of an iteration, or of the whole run; `to` is null for now. */
export type Range = { readonly from: string | null; readonly to: string | null };

export function rangeOf({ iterations }: RunView, one: IterationView | undefined): Range {
  if (one === undefined) return { from: iterations[0]?.from ?? null, to: iterations.at(-1)?.to ?? null };
  return { from: one.from, to: one.to ?? iterations[one.index + 1]?.from ?? null };
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

/** Returns the first line of a task that says something, without the marks of a heading. */
export function titleOf(task: string): string {
  const line = task.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').slice(0, 200);
}

export function doingNow({ iterations, tool, waitFor }: RunView): string {
  if (waitFor !== null) return waitFor;
  if (tool !== null) return `${tool.name} ${tool.summary}`.trim();
  const last = iterations.at(-1);
  const check = last?.guardrails.find(({ ok }) => ok === null);
  if (check) return `checks: ${check.command}`;
  return last?.agentMs === null ? 'the agent is thinking' : 'between two iterations';
}
