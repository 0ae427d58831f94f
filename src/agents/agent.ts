import type { AgentAdapter } from './adapter.ts';
import type { HookHost } from './host.ts';

/** All that is known of one agent CLI. A fact that is missing does not compile; null says that there is none. */
export type Agent = AgentAdapter & {
  /** The command that tells whether somebody is logged in. */
  readonly loginStatus: LoginStatus | null;
  /** The option that chooses a model. */
  readonly modelOption: string | null;
  /** Variables that decide which account it works on, beside its own login. */
  readonly accountVariables: readonly string[];
  /** Words that tell it to answer once and exit; the prompt then goes to standard input. */
  readonly headless: readonly string[];
  /** Words before the first prompt of its interactive form; null where standard input takes that one, too. */
  readonly interactive: readonly string[] | null;
  /** What its terminal shows; null where only motion and common questions are recognised. */
  readonly screen: AgentScreen | null;
  readonly sandbox: SandboxNeeds;
  /** Hooks that its settings can have, for a loop inside its session; null where it has none that we use. */
  readonly hooks: AgentHooks | null;
};

/** How a CLI tells whether it is logged in. */
type LoginStatus = {
  readonly words: readonly string[];
  readonly loggedIn: RegExp;
  /** Null where it never says so for certain. */
  readonly loggedOut: RegExp | null;
  /** A way in that the CLI leaves out of its answer; the words complete "but". */
  otherWay?(around: LoginAround): string | null;
};

/** What a check of the login can look at. */
export type LoginAround = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's own words. */
  readonly flags: readonly string[];
  /** The text of a file; empty where there is none. */
  readText(path: string): string;
};

/** Hooks of ours in the settings of an agent, as `ralph install` writes them. */
export type AgentHooks = {
  readonly host: HookHost;
  /** By the agent's own events. */
  readonly events: Readonly<Record<string, HookEntry>>;
  /** The file with the hooks of a project. */
  readonly projectFile: string;
  /** The file with the hooks of a user, whose home this is. */
  userFile(env: LoginAround['env'], home: string): string;
  /** What a person has to know once they are there. */
  notes(scope: 'project' | 'user'): readonly string[];
};

/** A hook of ours, and how long it may take in the agent's own unit. */
export type HookEntry = { readonly event: HookEvent; readonly matcher?: string; readonly timeout: number };

/** What the gate is called with, which is also the name of the built file. */
export type HookEvent = 'stop' | 'prompt' | 'session-start' | 'context' | 'guard' | 'interrupt';

/** What an agent needs from outside its sandbox. */
export type SandboxNeeds = {
  /** Hosts of its model, its login and nothing else. */
  readonly hosts: readonly string[];
  /** Variables that are meant for it, by name or by `PREFIX_*`. */
  readonly variables: readonly string[];
  /** Its settings, below the home. They go in as a copy. */
  readonly settings: readonly string[];
  /** Its logins, below the home. They go in as a copy, and a token that was renewed inside comes back. */
  readonly logins: readonly string[];
  /** Variables that lead out of the home, and the folder in the home that they move; null where they add one. */
  readonly moves: Readonly<Record<string, string | null>>;
  /** What it reads from a working copy at its start and obeys: read-only inside. */
  readonly obeys: readonly ObeyedPath[];
  /** Its settings in a working copy, which a virtual machine's agent could change for the one out here. */
  readonly projectSettings: readonly string[];
  /** Docker Sandboxes has a template for it. */
  readonly hasTemplate: boolean;
};

/** A path in the working copy, and what stands in its place for this agent while there is nothing. */
export type ObeyedPath = string | { readonly path: string; readonly standIn: StandIn };

export type StandIn = {
  /** The content of a file; null for an empty folder. */
  readonly content: string | null;
  /** The agent needs to write there: it gets a folder of the sandbox's own. */
  readonly scratch?: boolean;
};

/** What the screen of an agent looks like, from recordings in its fixtures/screens. */
export type AgentScreen = {
  /** Its place for input, among the last lines. */
  readonly input: RegExp;
  /** A turn is running: in the last lines, so many of them. */
  readonly working: RegExp;
  readonly footer: number;
  /** Where the agent begins to say something. */
  readonly speech: RegExp;
  /** A question stands where the input would be: in the last two lines. Without it, anything is one that leaves no room for input. */
  readonly dialog?: RegExp;
  /** It asks whether it may do something; null where it never does. */
  readonly permission: RegExp | null;
  /** It has a question of its own about the task. */
  readonly question?: RegExp;
  /** The provider's usage limit, also while it goes on to try. */
  readonly limit: RegExp;
  readonly loggedOut: RegExp;
  /** What stands in the way of a start, by name. */
  readonly blockers: Readonly<Record<string, RegExp>>;
  /** The last turn has ended; an agent that says so is at work as long as it does not. */
  readonly turnEnd?: RegExp;
  /** How full the context is, or how much of it is left, in percent. */
  readonly context?: RegExp;
  readonly contextLeft?: RegExp;
  /** It makes room in its context, or has just done so. */
  readonly compacts?: RegExp;
};

/** What most agents may do in each mode. */
export const usualPermits: Agent['permits'] = {
  full: 'do everything without asking',
  edit: 'change files here, but run no other commands',
  read: 'only look',
};

/** What stands in the way of a start of many agents. */
export const trustQuestion = 'the question whether you trust the folder';
export const loginQuestion = 'the login';
