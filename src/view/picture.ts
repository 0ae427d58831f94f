import type { TodoItem } from '../agents/adapter.ts';
import type { Decision, Limits, Verdict } from '../core/loop.ts';
import type { Outcome } from '../core/outcome.ts';
import type { TaskCounts } from '../core/review/mode.ts';
import type { IterationMode } from '../core/review/story.ts';
import type { TurnEnd, Usage } from '../core/turn.ts';
import type { StoryState } from '../store/loop-schemas.ts';

/** How a go of the loop came out; colour and shape in every view follow it. */
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
export type CheckPicture = {
  command: string;
  ok: boolean | null;
  timedOut: boolean;
  exitCode: number | null;
  startedAt: number;
  ms: number | null;
  log: string | null;
};

export type ToolPicture = {
  id: string;
  name: string;
  summary: string;
  ok: boolean | null;
  startedAt: number;
  ms: number | null;
};

/** Tokens in the agent's context at their highest; `window` is null where nobody told its size. */
export type ContextPicture = { tokens: number; window: number | null };

/** `after` and `reviewStatus` say how the list and the story stood when it was over; null before that. */
export type PrdPicture = {
  mode: IterationMode;
  story: string | null;
  before: TaskCounts;
  after: TaskCounts | null;
  reviewStatus: string | null;
  /** Changes of the task list that the mode does not allow. */
  problems: readonly string[];
};

/** One go of the loop. An iteration that is run again, after a limit or a crash, is another go with the same number. */
export type IterationPicture = {
  /** Its place among all goes, from 0. */
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
  /** What an iteration of a PRD is for; null in any other run. */
  prd: PrdPicture | null;
  agentStartedAt: number | null;
  agentMs: number | null;
  end: TurnEnd | null;
  exitCode: number | null;
  error: string | null;
  text: string;
  /** The last tool calls; `toolCalls` counts them all, and is null where the agent does not report them. */
  tools: ToolPicture[];
  toolCalls: number | null;
  toolErrors: number;
  usage: Usage | null;
  context: ContextPicture | null;
  commits: number;
  filesChanged: number;
  /** The first of the changed files that were not committed. */
  files: readonly string[];
  /** HEAD when it began and when it was over. */
  from: string | null;
  to: string | null;
  guardrails: CheckPicture[];
  verify: CheckPicture[];
  scm: { task: string; ok: boolean; detail: string }[];
  notes: string[];
  verdict: Verdict | null;
  decision: {
    kind: Decision['kind'];
    because: { code: string; text: string };
    outcome: Outcome | null;
  } | null;
  /** The wait that followed: how long was planned, and how long it really was once the loop went on. */
  wait: { startedAt: number; plannedMs: number; ms: number | null } | null;
};

/** Everything that a view shows of a run. Only the fold in `picture-fold.ts` writes it. */
export type Picture = {
  run: string;
  /** A worker that only drives a terminal has no journal: tool calls, costs and changes are not known of it. */
  told: 'journal' | 'timeline';
  /** The last event. */
  seq: number;
  /** Events that could not be understood; unknown kinds are no damage. */
  damaged: number;
  version: string | null;
  cwd: string | null;
  agent: string | null;
  agentVersion: string | null;
  command: string | null;
  task: string;
  promptFile: string | null;
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
  state: 'going' | 'waiting' | 'yielded' | 'ended' | 'failed' | 'abandoned';
  outcome: Outcome | null;
  exitCode: number | null;
  because: string | null;
  /** Set where nothing goes on before a person acts: to answer, or to look. */
  needs: { kind: 'answer' | 'look'; text: string } | null;
  iterations: IterationPicture[];
  usage: Usage;
  /** Milliseconds that the loop was at work, waits included; off time before a resume is not. */
  elapsedMs: number;
  claims: { accepted: number; rejected: number };
  todo: readonly TodoItem[];
  /** The tool call that runs. */
  tool: ToolPicture | null;
  waitUntil: number | null;
  waitFor: string | null;
  /** The stories of a PRD as they stand. */
  stories: readonly StoryState[];
  /** The last of what a person may want to know. */
  notices: { at: number; text: string }[];
};

/** Milliseconds of a go by what they went to; what is still going on counts up to `now`. */
export type TimeByKind = { agent: number; checks: number; review: number; waiting: number; other: number };

export function timeByKind(one: IterationPicture, now: number): TimeByKind {
  const agentMs =
    one.agentMs ?? (one.agentStartedAt === null || one.endedAt !== null ? 0 : now - one.agentStartedAt);
  const checks = [...one.guardrails, ...one.verify].reduce((sum, check) => sum + checkMs(check, one, now), 0);
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

function checkMs(check: CheckPicture, one: IterationPicture, now: number): number {
  return check.ms ?? Math.max(0, (one.endedAt ?? now) - check.startedAt);
}
