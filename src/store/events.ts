import type { TodoItem } from '../agents/adapter.ts';
import type { UserAgent } from '../agents/custom/user-agent.ts';
import type { EndCause } from '../agents/turn.ts';
import type { Decision, Evidence, LoopState, Reason } from '../core/loop.ts';
import type { NoticeKind } from '../core/notice.ts';
import type { Outcome } from '../core/outcome.ts';
import type { TaskCounts } from '../core/review/mode.ts';
import type { IterationMode, ReviewFields, ReviewRules } from '../core/review/story.ts';
import type { ContextSize, Limit, Progress, TurnEnd, Usage } from '../core/turn.ts';
import type { CliSetting } from './settings.ts';

/** The version of the events in a journal. A reader skips what it does not know. */
export const journalVersion = 1;

/** The state of a loop without what stays the same (the plan) or is large (the task). */
export type SavedLoop = Omit<LoopState, 'plan' | 'task'>;

/** A story as it stood at some moment of a run. */
export type StoryState = ReviewFields & {
  readonly id: string;
  readonly title: string;
  readonly priority: number;
  readonly dependsOn: readonly string[];
};

/** What a journal tells, in order. Every view is made from these. */
export type EventBody =
  | {
      readonly type: 'run.started';
      readonly run: string;
      readonly version: string;
      readonly pid: number;
      readonly cwd: string;
      readonly agent: string;
      /** As the agent itself told it. */
      readonly agentVersion?: string;
      /** What an agent from the settings prints. */
      readonly output?: UserAgent['output'];
      readonly command: string;
      readonly plan: LoopState['plan'];
      readonly task: string;
      readonly promptFile?: string;
      /** Settings from the command line, which a resumed run keeps. */
      readonly cli: readonly CliSetting[];
    }
  /** The same run goes on, in another process. */
  | {
      readonly type: 'run.resumed';
      readonly pid: number;
      readonly iteration: number;
      readonly agent?: string;
      readonly agentVersion?: string;
      readonly output?: UserAgent['output'];
      readonly plan?: LoopState['plan'];
      readonly cli: readonly CliSetting[];
    }
  | {
      readonly type: 'iteration.started';
      readonly iteration: number;
      readonly of: number | null;
      readonly promptChars: number;
      /** The beginning of the prompt. */
      readonly promptStart?: string;
      /** The commit that it starts from. */
      readonly head?: string;
    }
  /** An iteration of a PRD: what it is for, and how the stories stand before it. */
  | {
      readonly type: 'prd.iteration';
      readonly iteration: number;
      readonly mode: IterationMode;
      /** The id of the story; null where none is left to work on. */
      readonly story: string | null;
      readonly counts: TaskCounts;
      readonly stories: readonly StoryState[];
      /** What the PRD is about, in a line. */
      readonly about?: string;
      readonly rules?: ReviewRules;
    }
  /** The task list after the turn. A change that the mode does not allow was undone: the counts are those that hold. */
  | {
      readonly type: 'prd.checked';
      readonly iteration: number;
      readonly mode: IterationMode;
      readonly ok: boolean;
      readonly problems: readonly string[];
      readonly undone: boolean;
      /** Every story is done. */
      readonly complete: boolean;
      readonly counts: TaskCounts;
      readonly stories: readonly StoryState[];
    }
  /** The agent runs in a sandbox from here on. */
  | { readonly type: 'sandbox.ready'; readonly provider: string; readonly name: string }
  /** A host that the agent wanted to reach and may not; told once for each. */
  | {
      readonly type: 'sandbox.denied';
      readonly host: string;
      readonly port: number;
      readonly because: string;
    }
  | {
      readonly type: 'agent.started';
      readonly iteration: number;
      readonly pid: number | null;
      readonly argv: readonly string[];
    }
  | {
      readonly type: 'tool.started';
      readonly iteration: number;
      readonly id: string;
      readonly name: string;
      readonly summary: string;
    }
  | {
      readonly type: 'tool.ended';
      readonly iteration: number;
      readonly id: string;
      readonly ok: boolean;
      readonly exitCode?: number;
    }
  | { readonly type: 'todo'; readonly iteration: number; readonly items: readonly TodoItem[] }
  | {
      readonly type: 'agent.ended';
      readonly iteration: number;
      readonly end: TurnEnd;
      readonly cause: EndCause;
      readonly exitCode: number | null;
      readonly toolCalls: number | null;
      readonly ms: number;
      readonly usage?: Usage;
      readonly limit?: Limit;
      readonly error?: string;
      readonly session?: string;
      readonly progress: Progress;
      /** The agent's context at its fullest. */
      readonly context?: ContextSize;
      /** Processes that outlived the agent and were ended. */
      readonly swept?: readonly number[];
      readonly unknownEvents?: Readonly<Record<string, number>>;
      /** The end of the agent's own text. */
      readonly text: string;
    }
  | { readonly type: 'guardrail.started'; readonly iteration: number; readonly command: string }
  | {
      readonly type: 'guardrail.ended';
      readonly iteration: number;
      readonly command: string;
      readonly ok: boolean;
      readonly exitCode: number | null;
      readonly timedOut: boolean;
      readonly ms: number;
      readonly log: string;
      readonly action: string;
    }
  | {
      readonly type: 'verify.ended';
      readonly iteration: number;
      readonly command: string;
      readonly ok: boolean;
      readonly exitCode: number | null;
      readonly timedOut: boolean;
      readonly ms: number;
      /** Relative to the working copy. */
      readonly log?: string;
    }
  | {
      readonly type: 'scm.ended';
      readonly iteration: number;
      readonly task: string;
      readonly ok: boolean;
      readonly detail: string;
    }
  /** The guard refused a tool call. */
  | {
      readonly type: 'guard.denied';
      readonly iteration: number;
      readonly tool: string;
      /** The command, or the file. */
      readonly what: string;
      readonly category: string;
      readonly reason: string;
    }
  /** Word from a human that goes into the next prompt. */
  | { readonly type: 'note'; readonly iteration: number; readonly text: string }
  | {
      readonly type: 'verdict';
      readonly iteration: number;
      readonly accepted: boolean;
      readonly because: string;
      readonly evidence: readonly Evidence[];
    }
  | {
      readonly type: 'decision';
      readonly iteration: number;
      readonly kind: Decision['kind'];
      readonly because: Reason;
      readonly outcome?: Outcome;
      readonly ms?: number;
      /** The commit that the iteration ended on. */
      readonly head?: string;
      readonly loop: SavedLoop;
    }
  /** A person lets the loop wait, and go on. */
  | { readonly type: 'paused'; readonly because: string }
  | { readonly type: 'unpaused' }
  | { readonly type: 'notice'; readonly text: string }
  /** Also after the end of the run, which is what most notifications tell. */
  | {
      readonly type: 'notified';
      readonly kind: NoticeKind;
      readonly channel: string;
      readonly ok: boolean;
      readonly detail: string;
    }
  | {
      readonly type: 'run.ended';
      readonly outcome: Outcome;
      readonly exitCode: number;
      readonly because: Reason;
      readonly iterations: number;
      readonly usage: Usage;
      readonly ms: number;
    }
  /** The process stopped after one iteration, as its supervisor asked. The run is not over. */
  | { readonly type: 'run.yielded'; readonly iteration: number }
  /** The loop itself could not go on (a full disk, a prompt file that went away); it can be resumed. */
  | { readonly type: 'run.failed'; readonly code: string; readonly message: string }
  /** Written by the next start, which found that this run's process had died. */
  | { readonly type: 'run.abandoned'; readonly swept: readonly number[] };

/** An event as it stands in the journal. */
export type JournalEvent = EventBody & { readonly v: number; readonly seq: number; readonly at: string };

export type EventOf<T extends EventBody['type']> = Extract<JournalEvent, { type: T }>;
