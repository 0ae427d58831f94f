import type { AgentAdapter, AgentEvent, AgentGuard, Permissions } from '../agents/adapter.ts';
import type { LoopPlan, LoopState, Reason } from '../core/loop.ts';
import type { Outcome } from '../core/outcome.ts';
import type { DeniedHost, Sandbox } from '../safety/sandbox/sandbox.ts';
import type { JournalEvent } from '../store/events.ts';
import type { Journal } from '../store/journal.ts';
import type { Denial } from '../store/mailbox.ts';
import type { CliSetting } from '../store/settings.ts';
import type { ResolvedSettings } from '../store/settings-schema.ts';
import type { Clock } from '../system/clock.ts';
import type { Environment } from '../system/process.ts';
import type { LoopKind, Recorder } from './loop-kind.ts';
import type { ProtectedFiles } from './protected.ts';
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
  readonly kind: LoopKind;
  /** Where an earlier process of this run left off. */
  readonly resume?: LoopState;
  /** Number of the first iteration of this process. */
  readonly firstIteration: number;
  /** Guardrails that passed before, in an earlier process of this run. */
  readonly passed: readonly string[];
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

/** What lives as long as the run. */
export type RunParts = {
  readonly journal: Journal;
  readonly record: Recorder;
  readonly sandbox: Sandbox;
  readonly protectedFiles: ProtectedFiles;
  /** Guardrails that passed the last time they ran. */
  readonly passed: Set<string>;
  /** The agent's session that a limit cut off, for the next try. */
  cutSession: string | null;
};

export type RunEnd = { readonly outcome: Outcome; readonly exitCode: number; readonly because: Reason };
