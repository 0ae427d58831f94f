import type { AgentAdapter, AgentEvent, AgentGuard, Permissions } from '../../agents/adapter.ts';
import type { CliSetting } from '../../config/settings.ts';
import type { ResolvedSettings } from '../../config/settings-schema.ts';
import type { LoopPlan, LoopState } from '../../core/loop.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { JournalEvent } from '../../journal/events.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RecordedReason } from '../../journal/loop-schemas.ts';
import type { RunView } from '../../journal/run-view.ts';
import type { Clock } from '../../os/clock.ts';
import type { Environment } from '../../os/process/process.ts';
import type { Redactor } from '../../os/redact/redact.ts';
import type { Sandbox, SandboxSpec } from '../../sandbox/sandbox.ts';
import type { Mailbox } from '../mailbox.ts';
import type { LoopKind, Recorder } from './loop-kind.ts';
import type { WatchedFiles } from './watched-files.ts';
import type { WorkingCopy } from './working-copy.ts';

export type RunAgent = {
  readonly adapter: AgentAdapter;
  /** The program as it was found on the PATH. */
  readonly program: string;
  readonly version: string | null;
  readonly permissions: Permissions;
  readonly asRoot: boolean;
  /** Settings that switch the guard hook on or off for this agent. */
  readonly guard: AgentGuard;
};

export type PromptSource = { readonly text: string } | { readonly file: string };

/** Everything that a run needs; nothing is looked up later. */
export type RunSpec = {
  readonly run: string;
  readonly cwd: string;
  readonly workingCopy: WorkingCopy;
  readonly env: Environment;
  readonly settings: ResolvedSettings;
  readonly cli: readonly CliSetting[];
  readonly plan: LoopPlan;
  readonly prompt: PromptSource;
  readonly agent: RunAgent;
  /** Makes the sandbox that the agent runs in ready; without it there is none. */
  openSandbox?(reports: Pick<SandboxSpec, 'denied' | 'notice'>): Promise<Sandbox>;
  readonly kind: LoopKind;
  /** View of what earlier processes of this run wrote; each new event is added. */
  readonly view: RunView;
  /** State in which an earlier process of this run stopped. */
  readonly resume?: LoopState;
  /** Number of the first iteration of this process. */
  readonly firstIteration: number;
  /** Guardrails that passed before, in an earlier process of this run. */
  readonly passed: readonly string[];
  /** Answers of a human since the last run, for the first prompt. */
  readonly words: readonly string[];
  /** Called when the answers are in the journal. */
  wordsKept(): void;
  readonly version: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** Finish the iteration, then stop with the outcome that is the reason of the signal. */
  readonly finish: AbortSignal;
  /** Stop at once. */
  readonly stop: AbortSignal;
  /** True for a run that a supervisor continues one iteration at a time. */
  readonly oneIteration: boolean;
  readonly mailbox: Mailbox;
  /** Puts our files back and names those that were gone or changed. */
  restoreFiles(): string[];
  /** Writes control sequences to the terminal of the person; null if there is none. */
  readonly terminal: ((sequence: string) => void) | null;
  nonce(): string;
  matchPattern?(text: string): boolean;
  readonly observer: {
    journal(event: JournalEvent): void;
    agent(event: AgentEvent): void;
    stderr(text: string): void;
  };
};

/** Resources that live as long as the run. */
export type RunParts = {
  readonly journal: Journal;
  readonly record: Recorder;
  readonly sandbox: Sandbox;
  readonly watchedFiles: WatchedFiles;
  /** Guardrails that passed the last time they ran. */
  readonly passed: Set<string>;
  /** Tool calls that we refused, in words for the next prompt: an agent may not tell its model why. */
  readonly refusals: string[];
  /** The agent's session that a limit cut off, for the next try. */
  cutSession: string | null;
};

export type RunEnd = {
  readonly outcome: Outcome;
  readonly exitCode: number;
  readonly because: RecordedReason;
};
