import type { AgentName } from '../agents/registry.ts';
import type { RalphError } from '../core/error.ts';
import type { Argv, Environment } from '../os/process/process.ts';

/** Programs that keep an agent away from the rest of the machine; `none` does not. */
export const providerNames = ['sbx', 'docker-sandbox', 'bwrap', 'container', 'none'] as const;

export type ProviderName = (typeof providerNames)[number];

/** `auto` takes the first that works of sbx, bwrap and container, and fails where none does. */
export type SandboxChoice = 'auto' | ProviderName;

export type Wrapped = {
  readonly argv: Argv;
  readonly env: Environment;
  /** The command does not read its input: the prompt is its last argument. */
  readonly promptAsWord?: true;
  /** A line with this on standard error is the sandbox's own. */
  readonly marker?: string;
  /** Returns why the sandbox itself failed, from how the command ended; null if it did not. */
  failure?(exitCode: number | null, stderr: string): RalphError | null;
};

export type Availability =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly why: string; readonly remedy?: string };

type SandboxStatus = {
  readonly name: string;
  readonly state: 'absent' | 'ready' | 'running';
  /** More for people: where its home is, which image it has. */
  readonly detail: string;
};

/** Where the agent of one project runs. */
export type Sandbox = {
  readonly provider: ProviderName;
  readonly name: string;
  /** Makes it ready; `resumed` where people may have worked on the files since. */
  prepare(how?: { readonly resumed?: boolean }): Promise<void>;
  /** `alone` are variables that the command alone gets, not the program that makes the sandbox. */
  wrap(argv: Argv, env: Environment, cwd: string, alone?: Environment): Wrapped;
  /**
   * Empties the agent's home, so that an agent finds no instructions of the one before it; `keepSessions` leaves what it
   * needs to go on with its own. A virtual machine keeps its home.
   */
  freshHome(how: { readonly keepSessions: boolean }): Promise<void>;
  /** Call it when a wrapped command has ended: afterwards the files here are those inside. */
  settle(): Promise<void>;
  /** Ends what runs inside; its files stay for the next time. */
  stop(): Promise<void>;
  /** Removes it with all that was kept for the next time. */
  remove(): Promise<void>;
  status(): Promise<SandboxStatus>;
};

export type DeniedHost = { readonly host: string; readonly port: number; readonly because: string };

export type SandboxSpec = {
  /** The folder of the loop; the working copy around it is writable. */
  readonly cwd: string;
  readonly env: Environment;
  /** Variables that the settings add for the agent. */
  readonly agentEnv?: Environment;
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
  /** Gets a sentence that the user should read. */
  notice?(text: string): void;
};

/** The agent runs as we do. */
export const noSandbox: Sandbox = {
  provider: 'none',
  name: '',
  prepare: async () => {},
  wrap: (argv, env, _cwd, alone) => ({ argv, env: { ...env, ...alone } }),
  freshHome: async () => {},
  settle: async () => {},
  stop: async () => {},
  remove: async () => {},
  status: async () => ({ name: '', state: 'ready', detail: 'nothing is kept apart' }),
};
