import type { AgentName } from '../agents/registry.ts';
import type { RalphError } from '../core/error.ts';
import type { Argv, Environment } from '../os/process/process.ts';

/** What can keep an agent away from the rest of the machine; `none` keeps it away from nothing. */
export const providerNames = ['sbx', 'docker-sandbox', 'bwrap', 'container', 'none'] as const;

export type ProviderName = (typeof providerNames)[number];

/** `auto` takes the first that works of sbx, bwrap and container, and fails where none does. */
export type SandboxChoice = 'auto' | ProviderName;

/** A command as it has to be started so that it runs inside. */
export type Wrapped = {
  readonly argv: Argv;
  /** The whole environment. */
  readonly env: Environment;
  /** The command does not read its input: the prompt is its last word. */
  readonly promptAsWord?: true;
  /** A line with this on standard error is the sandbox's own. */
  readonly marker?: string;
  /** Why the sandbox itself failed, from how the command ended; null where the command is to blame, or nobody. */
  failure?(exitCode: number | null, stderr: string): RalphError | null;
};

/** Whether a provider can be used here, by trying it. */
export type Availability =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly why: string; readonly remedy?: string };

type SandboxStatus = {
  readonly name: string;
  readonly state: 'absent' | 'ready' | 'running';
  /** What there is to know besides: where its home is, which image it has. */
  readonly detail: string;
};

/** Where the agent of one project runs. */
export type Sandbox = {
  readonly provider: ProviderName;
  readonly name: string;
  /** Makes it ready; `resumed` where people may have worked on the files since. */
  prepare(how?: { readonly resumed?: boolean }): Promise<void>;
  wrap(argv: Argv, env: Environment, cwd: string): Wrapped;
  /** To be called when a wrapped command has ended: after it the files here are what they are inside. */
  settle(): Promise<void>;
  /** Ends what runs inside; its files stay for the next time. */
  stop(): Promise<void>;
  /** Takes it away with all that was kept for the next time. */
  remove(): Promise<void>;
  status(): Promise<SandboxStatus>;
};

/** A host that was asked for and refused. */
export type DeniedHost = { readonly host: string; readonly port: number; readonly because: string };

/** What every sandbox of a project is made from. */
export type SandboxSpec = {
  /** The folder of the loop; what is writable is the working copy around it. */
  readonly cwd: string;
  /** The environment of the user, with what the settings add for the agent. */
  readonly env: Environment;
  readonly agent: AgentName;
  /** The agent's program on this machine, where it is known. */
  readonly program?: string;
  /** Hosts besides those of the agent: a name, `*.name`, `name:port`, or `*` for all that are public. */
  readonly allowHosts?: readonly string[];
  /** Paths that can be read besides; with `:rw` at the end they can be written. */
  readonly paths?: readonly string[];
  /** Folders of programs that shall be seen inside, where the agent of this machine runs there. */
  readonly packages?: readonly string[];
  /** Names of variables that pass besides. */
  readonly variables?: readonly string[];
  /** For `container`. */
  readonly image?: string;
  /** Called once for each host. */
  denied?(host: DeniedHost): void;
};

/** The agent runs as we do. */
export const noSandbox: Sandbox = {
  provider: 'none',
  name: '',
  prepare: async () => {},
  wrap: (argv, env) => ({ argv, env }),
  settle: async () => {},
  stop: async () => {},
  remove: async () => {},
  status: async () => ({ name: '', state: 'ready', detail: 'nothing is kept apart' }),
};
