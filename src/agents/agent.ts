import type { AgentAdapter } from './adapter.ts';
import type { HookHost } from './host.ts';

/** Everything known about one agent CLI. A missing fact does not compile; null means that there is none. */
export type Agent = AgentAdapter & {
  /** Command that tells whether somebody is logged in. */
  readonly loginStatus: LoginStatus | null;
  /** Option that chooses a model. */
  readonly modelOption: string | null;
  /** Environment variables that choose its account, beside its own login. */
  readonly accountVariables: readonly string[];
  /** Arguments that make it answer once and exit; the prompt then goes to standard input. */
  readonly headless: readonly string[];
  /** Arguments before the first prompt of an interactive start; null if that prompt goes to standard input, too. */
  readonly interactive: readonly string[] | null;
  /** Patterns of its terminal; null if only motion and common questions are recognised. */
  readonly screen: AgentScreen | null;
  /** Session with an id of ours, whose transcript can be followed. */
  readonly ownSession?: OwnSession;
  readonly sandbox: SandboxNeeds;
  /** Hooks in its settings, for a loop inside its session; null if we use none. */
  readonly hooks: AgentHooks | null;
};

/** How a session gets an id of ours, and what its transcript says about the context. */
export type OwnSession = {
  /** Option that takes the id. */
  readonly option: string;
  /** Other options that choose a session; ours gives way to them. */
  readonly otherOptions: readonly string[];
  /** Directory whose directories hold the transcripts, one for each working copy. */
  transcriptFolders(env: LoginAround['env'], home: string): string;
  transcriptName(session: string): string;
  /** Matches a line that says that the context was compacted. */
  readonly compaction: RegExp;
};

/** Command for the login status, and how to read its output. */
type LoginStatus = {
  readonly words: readonly string[];
  readonly loggedIn: RegExp;
  /** Null if its output never proves it. */
  readonly loggedOut: RegExp | null;
  /** Finds a login that the command leaves out; the returned words follow "but". */
  otherWay?(around: LoginAround): string | null;
};

/** Surroundings that a check of the login may look at. */
export type LoginAround = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's `agent.flags`. */
  readonly flags: readonly string[];
  /** Returns the text of a file; empty if there is none. */
  readText(path: string): string;
};

/** Our hooks in the settings of an agent, as `ralph install` writes them. */
export type AgentHooks = {
  readonly host: HookHost;
  /** Our hooks by the agent's own event names. */
  readonly events: Readonly<Record<string, HookEntry>>;
  /** Field by which the agent shows a hook, in place of its command. */
  readonly label?: { readonly name: string } | { readonly statusMessage: string };
  /** Settings file of a project. */
  readonly projectFile: string;
  /** Returns the settings file of the user with this home. */
  userFile(env: LoginAround['env'], home: string): string;
  /** Returns what the user has to know after the installation. */
  notes(scope: 'project' | 'user'): readonly string[];
};

/** One hook; its timeout is in the agent's own unit. */
export type HookEntry = { readonly event: HookEvent; readonly matcher?: string; readonly timeout: number };

/** Argument of the gate, and name of the built file. */
export type HookEvent = 'stop' | 'prompt' | 'session-start' | 'context' | 'guard' | 'interrupt';

/** Needs of an agent inside a sandbox. */
export type SandboxNeeds = {
  /** Hosts of its model and its login only. */
  readonly hosts: readonly string[];
  /** Environment variables meant for it, by name or by `PREFIX_*`. */
  readonly variables: readonly string[];
  /** Settings files below the home, copied into the sandbox. */
  readonly settings: readonly string[];
  /** Login files below the home, copied into the sandbox; a token renewed inside for the same account is copied back. */
  readonly logins: readonly string[];
  /** Files below a directory of the home that it needs to resume a session; null if it cannot. */
  readonly sessions: { readonly folder: string; readonly files: RegExp } | null;
  /** Variables that point out of the home, with the directory that they move; null if they add one. */
  readonly moves: Readonly<Record<string, string | null>>;
  /** Files of a working copy that it obeys from its start on: read-only in the sandbox. */
  readonly obeys: readonly ObeyedPath[];
  /** Settings in a working copy, which an agent in a virtual machine could change for the one on the host. */
  readonly projectSettings: readonly string[];
  /** Files and directories of a working copy with other programs, hooks and variables that it loads. */
  readonly loads?: readonly string[];
  /** Directories of a working copy with Markdown files whose heads set hooks and permissions. */
  readonly heads?: readonly string[];
  /** True if Docker Sandboxes has a template for it. */
  readonly hasTemplate: boolean;
};

/** Path in the working copy, with a placeholder for this agent if there is no such file. */
export type ObeyedPath = string | { readonly path: string; readonly standIn: StandIn };

export type StandIn = {
  /** Content of a file; null for an empty directory. */
  readonly content: string | null;
  /** True if the agent has to write there: it gets a directory of the sandbox. */
  readonly scratch?: boolean;
};

/** Patterns of an agent's terminal, from recordings in its fixtures/screens. */
export type AgentScreen = {
  /** Banner at its start, by which it is recognised behind a wrapper. */
  readonly banner?: RegExp;
  /** Input field, among the last lines. */
  readonly input: RegExp;
  /** Sign of a running turn in the last `footer` lines. */
  readonly working: RegExp;
  readonly footer: number;
  /** Start of a message of the agent. */
  readonly speech: RegExp;
  /** Question in place of the input, in the last two lines. Without this pattern, any screen without input is a question. */
  readonly dialog?: RegExp;
  /** Question for a permission; null if it never asks. */
  readonly permission: RegExp | null;
  /** Question about the task. */
  readonly question?: RegExp;
  /** Usage limit of the provider, also while the agent retries. */
  readonly limit: RegExp;
  /** Line of a refused login; anchored, since the agent may speak of one. */
  readonly loggedOut: RegExp;
  /** Screens that block a start, by name. */
  readonly blockers: Readonly<Record<string, RegExp>>;
  /** End of the last turn; an agent with this pattern is at work until it matches. */
  readonly turnEnd?: RegExp;
  /** Percentage of the context in use, or left. */
  readonly context?: RegExp;
  readonly contextLeft?: RegExp;
  /** Sign that the context is being compacted, or was just now. */
  readonly compacts?: RegExp;
};

/** Permissions of most agents in each mode. */
export const usualPermits: Agent['permits'] = {
  full: 'do everything without asking',
  edit: 'change files here, but run no other commands',
  read: 'only look',
};

/** Names of screens that block the start of many agents. */
export const trustQuestion = 'the question whether you trust the folder';
export const loginQuestion = 'the login';
