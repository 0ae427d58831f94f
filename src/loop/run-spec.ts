import type { AgentAdapter, AgentEvent, AgentGuard, Permissions } from '../agents/adapter.ts';
import type { Check } from '../core/evidence.ts';
import type { LoopPlan, LoopState, Reason } from '../core/loop.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Progress, TurnEnd } from '../core/turn.ts';
import type { DeniedHost, Sandbox } from '../safety/sandbox/sandbox.ts';
import type { EventBody, JournalEvent } from '../store/events.ts';
import type { Denial } from '../store/mailbox.ts';
import type { CliSetting } from '../store/settings.ts';
import type { ResolvedSettings } from '../store/settings-schema.ts';
import type { Clock } from '../system/clock.ts';
import type { Environment } from '../system/process.ts';
import type { Workspace } from './workspace.ts';

/** Takes secrets out of what is kept and shown. */
export type Redactor = {
  text(text: string): string;
  stream(): { push(chunk: Buffer): Buffer; end(): Buffer };
};

export type RunAgent = {
  readonly adapter: AgentAdapter;
  /** The program as it was found on the PATH. */
  readonly program: string;
  readonly version: string | null;
  readonly permissions: Permissions;
  readonly asRoot: boolean;
  /** What judges its tool calls, or keeps an installed hook from doing so. */
  readonly guard: AgentGuard;
};

export type PromptSource = { readonly text: string } | { readonly file: string };

/** What a kind of loop does around each turn; a plain run has no stage. */
export type Stage = {
  /** More of the environment of the agent. */
  readonly env: Environment;
  /** Before the agent starts, on this commit: the task of this iteration, made of the one that was read, and what there is to tell about it. */
  prepare(
    iteration: number,
    task: string,
    head: string | null,
  ): { readonly task: string; readonly events: readonly EventBody[] };
  progressOf(changed: Progress): Progress;
  /** After the turn, and again after commands that may have changed something. */
  inspect(iteration: number, end: TurnEnd, record: Recorder): Promise<Inspected>;
  close(): void;
};

export type Inspected = {
  readonly checks: readonly Check[];
  /** Speaks for or against a claim, and is looked at only when there is one. */
  readonly evidence: Check;
  /** What is written down says that all is done: a claim without a tag. */
  readonly done: boolean;
  /** It has committed something itself, which is no progress of the agent. */
  readonly committed?: boolean;
};

/** All that a run needs; nothing of it is looked up later. */
export type RunSpec = {
  readonly run: string;
  readonly cwd: string;
  readonly workspace: Workspace;
  readonly env: Environment;
  readonly settings: ResolvedSettings;
  readonly cli: readonly CliSetting[];
  readonly plan: LoopPlan;
  readonly prompt: PromptSource;
  readonly agent: RunAgent;
  /** Makes the sandbox that the agent runs in ready; without it there is none. */
  openSandbox?(denied: (host: DeniedHost) => void): Promise<Sandbox>;
  readonly stage?: Stage;
  /** Where an earlier process of this run left off. */
  readonly resume?: LoopState;
  /** What a human said since the last run, for the first prompt. */
  readonly words: readonly string[];
  /** The words are in the journal now. */
  wordsKept(): void;
  readonly version: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** Finish the iteration, then stop with the outcome that is the reason of the signal. */
  readonly finish: AbortSignal;
  /** Stop at once. */
  readonly stop: AbortSignal;
  /** Whoever started it goes on with it later, an iteration at a time. */
  readonly oneIteration: boolean;
  /** Notes from other terminals, each once. */
  takeNotes(): string[];
  /** Whether a person wants the loop to wait before the next iteration. */
  isPaused(): boolean;
  /** Until a person may have said something new, or the signal aborts. */
  waitForMail(signal: AbortSignal): Promise<void>;
  /** What the guard refused since the last call. */
  takeDenials(): Denial[];
  /** Puts our files back and names those that were gone or changed. */
  restoreFiles(): string[];
  /** Writes control sequences to the terminal of the person; null where there is none. */
  readonly terminal: ((sequence: string) => void) | null;
  nonce(): string;
  matchPattern?(text: string): boolean;
  readonly observer: {
    journal(event: JournalEvent): void;
    agent(event: AgentEvent): void;
    stderr(text: string): void;
  };
};

/** Appends to the journal and tells the observer. */
export type Recorder = (body: EventBody) => void;

export type RunEnd = { readonly outcome: Outcome; readonly exitCode: number; readonly because: Reason };
