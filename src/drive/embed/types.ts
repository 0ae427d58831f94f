import type { PromiseMatch } from '../../core/loop.ts';
import type { Clock } from '../../os/clock.ts';
import type { Log, RalphLoopState } from './embedded-loop.ts';
import type { HostMessages } from './host-messages.ts';

export interface RalphLoopConfig {
  enabled: boolean;
  defaultMaxIterations: number;
  defaultCompletionPromise: string;
  /** Milliseconds between the idle event and the continuation. */
  continuationDelay: number;
  /** Folder of `ralph-loop-state.json`; default `.ralph` in the working folder. */
  stateDir?: string;
  /** How the marker is matched; default `lenient` (any case, spaces inside the tag). */
  match?: PromiseMatch;
  /** Tool calls since the start that a claim needs. The host has to list messages in parts for this. */
  minToolCalls?: number;
  /** Turns in a row without a tool call after which the loop is stuck; default no limit. */
  maxTurnsWithoutTools?: number;
  /** Turns in a row that end in an error with no answer, after which the loop ends; default no limit. */
  maxFailures?: number;
  /** Milliseconds after an error in which other hooks may recover the session; default 5000. */
  recoveryWindow?: number;
}

export interface StartLoopOptions {
  maxIterations?: number | undefined;
  completionPromise?: string | undefined;
  description?: string | undefined;
  match?: PromiseMatch | undefined;
  minToolCalls?: number | undefined;
  /** First paragraph of each continuation. */
  instruction?: string | undefined;
}

export interface RalphLoopHook {
  startLoop: (sessionId: string, prompt: string, options?: StartLoopOptions) => boolean;
  cancelLoop: (sessionId: string) => boolean;
  getState: (sessionId?: string) => RalphLoopState | null;
  isLoopActive: (sessionId: string) => boolean;
}

/** An event of the host: `session.idle`, `session.error`, `session.deleted`, and `user.message` if it can tell. */
export interface HookContext {
  event: string;
  sessionId: string;
  data?: unknown;
}

/** The hook that a host registers. */
export interface Hook {
  name: string;
  description: string;
  priority: number;
  events: string[];
  handler: (context: HookContext) => Promise<void>;
  /** Stops all timers; the loop stays on disk for the next start of the host. */
  dispose: () => void;
}

export interface Toast {
  title: string;
  message: string;
  variant: 'info' | 'success' | 'warning' | 'error';
  duration?: number;
}

export interface RalphLoopOptions {
  config?: { [Name in keyof RalphLoopConfig]?: RalphLoopConfig[Name] | undefined };
  workdir?: string;
  getMessages?: (sessionId: string) => Promise<HostMessages>;
  /** Rejects, or resolves to `{ error }`, if the prompt was not sent. */
  injectPrompt?: (sessionId: string, prompt: string) => Promise<unknown>;
  showToast?: (message: Toast) => void | Promise<void>;
  checkSessionExists?: (sessionId: string) => Promise<boolean>;
  /** Default: silent. */
  log?: Log;
  /** For tests: `createFakeClock` of `ralphkit/testkit`. */
  clock?: Clock;
}
