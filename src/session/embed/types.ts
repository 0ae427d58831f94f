import type { PromiseMatch } from '../../core/loop.ts';
import type { Log, RalphLoopState } from '../../store/embedded-loop.ts';
import type { Clock } from '../../system/clock.ts';
import type { HostMessages } from './messages.ts';

export interface RalphLoopConfig {
  enabled: boolean;
  defaultMaxIterations: number;
  defaultCompletionPromise: string;
  /** Milliseconds between the idle event and the continuation. */
  continuationDelay: number;
  /** Folder of `ralph-loop-state.json`; `.ralph` in the working folder unless told. */
  stateDir?: string;
  /** How the promise is matched; `lenient` (any case, spaces inside the tag) unless told. */
  match?: PromiseMatch;
  /** Tool calls since the start that a promise needs. The host has to list messages in parts for this. */
  minToolCalls?: number;
  /** Turns in a row without a tool call after which the loop is stuck; no limit unless told. */
  maxTurnsWithoutTools?: number;
  /** Turns in a row that end in an error with no answer, after which the loop ends; no limit unless told. */
  maxFailures?: number;
  /** Milliseconds after an error in which other hooks may recover the session; 5000 unless told. */
  recoveryWindow?: number;
}

export interface StartLoopOptions {
  maxIterations?: number | undefined;
  completionPromise?: string | undefined;
  description?: string | undefined;
  match?: PromiseMatch | undefined;
  minToolCalls?: number | undefined;
  /** Text that stands before each continuation. */
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

/** What a host registers. */
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
  /** The same as `config.match`, which comes first. */
  match?: PromiseMatch;
  config?: { [Name in keyof RalphLoopConfig]?: RalphLoopConfig[Name] | undefined };
  workdir?: string;
  getMessages?: (sessionId: string) => Promise<HostMessages>;
  injectPrompt?: (sessionId: string, prompt: string) => Promise<void>;
  showToast?: (message: Toast) => void | Promise<void>;
  checkSessionExists?: (sessionId: string) => Promise<boolean>;
  /** Silent unless told. */
  log?: Log;
  /** For tests: `createFakeClock` of `ralphkit/testkit`. */
  clock?: Clock;
}
