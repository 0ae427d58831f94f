import type { ContextSize, Limit, Usage } from '../core/turn.ts';

/** Item of the agent's todo list. */
export type TodoItem = { readonly text: string; readonly status: 'pending' | 'active' | 'done' };

/** Event of an agent's stream, in one vocabulary for all agents. */
export type AgentEvent =
  | { readonly type: 'session'; readonly id: string; readonly model?: string }
  /** The assistant's own text. A `delta` continues the block before it. */
  | { readonly type: 'text'; readonly text: string; readonly delta?: boolean }
  /** The last `blocks` texts (a summary that the agent wrote for itself) and the result are not its answer. */
  | { readonly type: 'retract'; readonly blocks: number }
  | {
      readonly type: 'tool-start';
      readonly id: string;
      readonly name: string;
      readonly summary: string;
      /** All fields of its input; missing if the summary is all of it. */
      readonly input?: unknown;
    }
  | {
      readonly type: 'tool-end';
      readonly id: string;
      readonly ok: boolean;
      readonly exitCode?: number;
      readonly output: string;
    }
  | { readonly type: 'todo'; readonly items: readonly TodoItem[] }
  /** Adds to the usage of the turn; adapters report nothing twice. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** Size of the context at one request of the agent; those of subagents are not reported. */
  | { readonly type: 'context'; readonly size: ContextSize }
  /** An error; only `result` says whether the turn failed. */
  | { readonly type: 'error'; readonly message: string; readonly limit?: Limit }
  /** Text to show, without any other effect. */
  | { readonly type: 'notice'; readonly text: string }
  /** Activity of a subagent: shown, never counted as the agent's own text. */
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

/** `edit` may change files but not run every command; the details differ by CLI. */
export type Permissions = 'full' | 'edit' | 'read';

/** `stream` gives events as they happen; `text` gives the last answer only (commit messages). */
export type OutputMode = 'stream' | 'text';

export type AgentTask = {
  readonly prompt: string;
  /** The completion contract, for CLIs that take a system prompt; the others find it in `prompt`. */
  readonly systemPrompt?: string;
  readonly permissions: Permissions;
  /** The user's `agent.flags`, which come after our own. */
  readonly flags: readonly string[];
  /** Session of the agent to continue, if the CLI can. */
  readonly resumeSession?: string;
  /** True as root, for which some CLIs refuse to skip permissions. */
  readonly asRoot: boolean;
};

/** Hooks of ours that a run can bring along: the guard, and for a PRD the stop checks and the context monitor. */
export type RunHook = 'guard' | 'stop' | 'context';

/** Guard programs that an agent can call before its tools. */
export type GuardPrograms = {
  /** Returns the shell command that reads a hook event from standard input; null for a hook that is not wanted. */
  hook(name: RunHook): string | null;
  /** File of the plugin for OpenCode, if the guard is wanted and the file is there. */
  readonly opencodePlugin: string | null;
  sha256(text: string): string;
  /** Reads a JSON file that the user's flags name; null if it cannot be read, or must not be on a command line. */
  readJson(path: string): unknown;
};

/** Arguments and environment that put the guard before the tools of an agent. */
export type AgentGuard = {
  readonly args: readonly string[];
  /** The user's remaining flags, if `args` already include some of them. */
  readonly flags?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** True if it checks the agent's stops, too. */
  readonly checksStops?: true;
};

/** Returns null if this version has no way to call a guard. */
export type GuardStarter = (
  programs: GuardPrograms,
  around: {
    readonly version: string | null;
    /** The user's `agent.flags`. */
    readonly flags: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
  },
) => AgentGuard | null;

/** Arguments (without the program itself), standard input and extra environment. */
export type AgentCommand = {
  readonly args: readonly string[];
  readonly stdin: string | null;
  readonly env: Readonly<Record<string, string>>;
};

/**
 * State of a parser between lines; each adapter has its own shape. The reader sets `now` (epoch milliseconds) before
 * each line, if it has a clock, and `resumed` if the turn continues a session of the agent.
 */
export type ParserState = { now?: number; resumed?: boolean; [key: string]: unknown };

/** How one agent CLI is called and understood. Data and pure functions, no I/O. */
export type AgentAdapter = {
  readonly name: string;
  /** `acp`: its input stays open, and it is talked to by the Agent Client Protocol. */
  readonly protocol?: 'acp';
  /** Command that installs it, for the message when it is missing. */
  readonly install: string;
  /** Command that logs in; null if unknown. */
  readonly login: string | null;
  /** True if the command line depends on the installed version. */
  readonly needsVersion?: true;
  /** True if the stream reports tool calls; otherwise `minToolCalls` cannot be judged. */
  readonly reportsToolCalls: boolean;
  /** Permission modes of this CLI, and what the agent may do in each, in words that follow "may". */
  readonly permits: Readonly<Partial<Record<Permissions, string>>>;
  /** True if a session that was cut off can be continued. */
  readonly canResume: boolean;
  /** True if a flag takes `systemPrompt`. */
  readonly takesSystemPrompt: boolean;
  /** True if the stream has no result event: a clean exit with some text ends a good turn. */
  readonly endsWithoutResult?: true;
  /** True if a good result counts even when the process then exits with a failure code. */
  readonly exitCodeIsNoise?: true;
  /** Oldest and newest version with recordings. */
  readonly tested: readonly string[];
  /** Puts the guard before its tools; null if no version can. */
  readonly guard: GuardStarter | null;
  command(task: AgentTask, version: string | null, mode: OutputMode): AgentCommand;
  newState(): ParserState;
  /** Parses one line of standard output. Never throws. */
  parse(line: string, state: ParserState): AgentEvent[];
};
