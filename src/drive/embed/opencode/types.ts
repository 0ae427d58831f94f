import type { HostMessage } from '../host-messages.ts';
import type { Toast } from '../types.ts';

/** The parts of OpenCode's plugin interface (1.18) that the loop uses; `@opencode-ai/plugin` has them all. */
export type PluginInput = {
  readonly client: OpenCodeClient;
  readonly directory: string;
};

export type PluginHooks = {
  config?: (config: PluginConfig) => Promise<void>;
  event?: (input: { event: { type: string; properties?: unknown } }) => Promise<void>;
  'chat.message'?: (input: { sessionID: string }, output?: { parts: CommandPart[] }) => Promise<void>;
  'command.execute.before'?: (input: CommandInput, output: { parts: CommandPart[] }) => Promise<void>;
  /** Throws to deny the call. */
  'tool.execute.before'?: (
    input: { tool: string; sessionID: string },
    output: { args: unknown },
  ) => Promise<void>;
  'experimental.session.compacting'?: (
    input: { sessionID: string },
    output: { context: string[] },
  ) => Promise<void>;
  dispose?: () => Promise<void>;
};

export type PluginConfig = { command?: Record<string, { template: string; description?: string }> };

type CommandInput = { command: string; sessionID: string; arguments: string };

export type CommandPart = { type: string; text?: string };

type At = { path: { id: string }; query?: { directory?: string } };
/** The client returns errors, it does not throw them. */
type Answer<T> = Promise<{ data?: T; error?: unknown }>;

export type OpenCodeClient = {
  session: {
    messages(options: At): Answer<readonly HostMessage[]>;
    promptAsync(options: At & { body: PromptBody }): Answer<unknown>;
  };
  tui: { showToast(options: { body: Toast }): Promise<unknown> };
  app: { log(options: { body: LogEntry }): Promise<unknown> };
};

export type PromptBody = {
  parts: { type: 'text'; text: string }[];
  agent?: string;
  model?: { providerID: string; modelID: string };
  variant?: string;
};

export type LogEntry = {
  service: string;
  level: 'info' | 'warn' | 'error';
  message: string;
  extra?: Record<string, unknown>;
};
