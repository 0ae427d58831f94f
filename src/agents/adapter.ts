import type { ContextSize, Limit, Usage } from '../core/turn.ts';

/** One todo item as the agent keeps it. */
export type TodoItem = { readonly text: string; readonly status: 'pending' | 'active' | 'done' };

/** What an agent's stream says, in one vocabulary for all agents. */
export type AgentEvent =
  | { readonly type: 'session'; readonly id: string; readonly model?: string }
  /** The assistant's own text. A `delta` continues the block before it. */
  | { readonly type: 'text'; readonly text: string; readonly delta?: boolean }
  /** It goes on: the last `blocks` texts (a summary that it wrote for itself) and the result are not its answer. */
  | { readonly type: 'retract'; readonly blocks: number }
  | { readonly type: 'tool-start'; readonly id: string; readonly name: string; readonly summary: string }
  | {
      readonly type: 'tool-end';
      readonly id: string;
      readonly ok: boolean;
      readonly exitCode?: number;
      readonly output: string;
    }
  | { readonly type: 'todo'; readonly items: readonly TodoItem[] }
  /** Adds to the usage of the turn; adapters make sure that nothing is told twice. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** What the model had before it at one request of the agent's own; subagents have a context of theirs. */
  | { readonly type: 'context'; readonly size: ContextSize }
  /** Something went wrong; only `result` says whether the turn did. */
  | { readonly type: 'error'; readonly message: string; readonly limit?: Limit }
  /** Worth a line on the screen, nothing more. */
  | { readonly type: 'notice'; readonly text: string }
  /** What a subagent does: shown, never counted as the agent's own text. */
  | { readonly type: 'subagent'; readonly text: string }
  /**
   * The end of the turn, whether or not the process ends too. `usage` is the total, where the stream gives one.
   * With `more` the agent goes on by itself (background work, queued messages): wait for a later result or its exit.
   */
  | {
      readonly type: 'result';
      readonly ok: boolean;
      readonly more?: true;
      readonly error?: string;
      readonly limit?: Limit;
      readonly usage?: Usage;
    }
  /** A well-formed event that this adapter does not know. */
  | { readonly type: 'unknown'; readonly name: string };

/** `edit` may change files but not run everything; what that means is each CLI's own matter. */
export type Permissions = 'full' | 'edit' | 'read';

/** `stream` gives events as they happen; `text` gives the last answer only (commit messages). */
export type OutputMode = 'stream' | 'text';

export type AgentTask = {
  readonly prompt: string;
  /** The completion contract, for CLIs that take a system prompt; the others find it in `prompt`. */
  readonly systemPrompt?: string;
  readonly permissions: Permissions;
  /** The user's own words after ours: `agent.flags`. */
  readonly flags: readonly string[];
  /** Continue this session of the agent, where the CLI can. */
  readonly resumeSession?: string;
  /** Running as root, where some CLIs refuse to skip permissions. */
  readonly asRoot: boolean;
};

/** What judges tool calls before they happen, for CLIs that ask before them. */
export type GuardPrograms = {
  /** A line for a shell that reads the event of a hook. */
  readonly hook: string;
  /** File of the plugin for OpenCode. */
  readonly opencodePlugin: string;
  sha256(text: string): string;
  /** What is in a file that the user's words name; null where it cannot be read, or may not be on a command line. */
  readJson(path: string): unknown;
};

/** What puts the guard before the tools of an agent: words for its command line, and environment. */
export type AgentGuard = {
  readonly args: readonly string[];
  /** The user's own words, where `args` say some of them already. */
  readonly flags?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

/** Null where this version has no way. */
type GuardStarter = (
  programs: GuardPrograms,
  around: {
    readonly version: string | null;
    /** The user's own words. */
    readonly flags: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
  },
) => AgentGuard | null;

/** Words for the command line (without the program itself), standard input and extra environment. */
export type AgentCommand = {
  readonly args: readonly string[];
  readonly stdin: string | null;
  readonly env: Readonly<Record<string, string>>;
};

/**
 * Holds what a parser must remember between lines; each adapter has its own shape.
 * The reader sets `now` (epoch milliseconds) before each line, where it has a clock, and `resumed` where the turn
 * continues a session of the agent.
 */
export type ParserState = { now?: number; resumed?: boolean; [key: string]: unknown };

/** How one agent CLI is called and understood. Data and pure functions, no I/O. */
export type AgentAdapter = {
  readonly name: string;
  /** How a person gets it, for the message when it is missing. */
  readonly install: string;
  /** How a person logs in again; null where nobody can say. */
  readonly login: string | null;
  /** The command line depends on the installed version, so that it has to be asked. */
  readonly needsVersion?: true;
  /** Whether the stream reports tool calls; where not, `minToolCalls` cannot be judged. */
  readonly reportsToolCalls: boolean;
  /** The modes that this CLI has, and what the agent may do in each, in words that follow "may". */
  readonly permits: Readonly<Partial<Record<Permissions, string>>>;
  /** Whether a session that was cut off can be continued. */
  readonly canResume: boolean;
  /** Whether `systemPrompt` reaches the model by a flag. */
  readonly takesSystemPrompt: boolean;
  /** The stream has no result event: a clean exit with some text is the end of a good turn. */
  readonly endsWithoutResult?: true;
  /** A good result counts even where the process then exits with a failure code. */
  readonly exitCodeIsNoise?: true;
  /** The range of versions we have recordings of, oldest and newest. */
  readonly tested: readonly string[];
  /** Puts the guard before its tools; null where no version has a way. */
  readonly guard: GuardStarter | null;
  command(task: AgentTask, version: string | null, mode: OutputMode): AgentCommand;
  newState(): ParserState;
  /** One line of standard output to events. Never throws. */
  parse(line: string, state: ParserState): AgentEvent[];
};
