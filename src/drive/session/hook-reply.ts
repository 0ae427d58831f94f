import type { Environment } from '../../os/process/program.ts';

/** Reply of a hook, before a host puts it into its own form. */
export type Reply =
  /** Prints nothing. */
  | { readonly kind: 'silent' }
  /** Keeps the agent working, with a message. */
  | { readonly kind: 'continue'; readonly message: string; readonly notice?: string }
  /** Adds a message to the agent's context, and shows the user the notice. */
  | { readonly kind: 'context'; readonly message: string; readonly notice?: string }
  /** Shows the user a notice; nothing changes for the agent. */
  | { readonly kind: 'notice'; readonly notice: string }
  /** Answers the user's prompt, which does not reach the model. */
  | { readonly kind: 'answer'; readonly message: string };

export const silent: Reply = { kind: 'silent' };

export function noticeOf(text: string | null): Reply {
  return text === null ? silent : { kind: 'notice', notice: text };
}

export type SessionContext = {
  readonly env: Environment;
  readonly now: () => number;
  /** The folder of the running hooks. */
  readonly driver: string;
  readonly version: string;
};

/** Surroundings of a hook that a host runs as a program. */
export type HookContext = SessionContext & { warn(line: string): void };
