import { isSameState, type Log, type RalphLoopState } from '../../store/embedded-loop.ts';
import type { Clock } from '../../system/clock.ts';
import { type Continuation, createIdleDriver, type IdleTurn } from '../idle-driver.ts';
import { DEFAULT_RECOVERY_WINDOW, HOOK_NAME } from './constants.ts';
import { isFromAssistant, type Mark, markOf, messagesSince, readMessages } from './messages.ts';
import type { Toaster } from './toaster.ts';
import { continuationOf, decideTurn, nextState } from './turn.ts';
import type { RalphLoopConfig } from './types.ts';

export type DriverOptions = {
  readonly config: RalphLoopConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly toasts: Toaster;
  read(): RalphLoopState | null;
  replace(before: RalphLoopState, next: RalphLoopState | null): boolean;
  getMessages(sessionId: string): Promise<unknown>;
  injectPrompt(sessionId: string, prompt: string): Promise<void>;
  readonly checkSessionExists: ((sessionId: string) => Promise<boolean>) | undefined;
};

/** Drives the loop of the embedded hook: one at a time, with its state in one file. */
export function createDriver(options: DriverOptions) {
  const { config, clock, toasts, read, replace, getMessages, injectPrompt } = options;
  const log = withName(options.log);
  /** Where the turn of a session began. */
  const marks = new Map<string, Mark | null>();
  /** When the iteration of a session was planned here last. */
  const planned = new Map<string, string | undefined>();
  const driver = createIdleDriver({
    clock,
    log,
    delayMs: config.continuationDelay,
    recoveryMs: config.recoveryWindow ?? DEFAULT_RECOVERY_WINDOW,
    getMessages,
    injectPrompt,
    judge,
  });

  async function judge({ id, messages, error, late }: IdleTurn): Promise<Continuation | null> {
    const state = read();
    if (!state?.active || state.sessionId !== id || isPlannedElsewhere(state)) return null;
    const mark = marks.get(id) ?? null;
    const turn = messagesSince(messages, mark);
    if (late && error === null && !turn.some(isFromAssistant)) return null;

    const { loop, decision } = decideTurn(state, config, turn, error, clock.now());
    const { iteration } = state;
    if (decision.kind === 'stop') {
      if (!replace(state, null)) return null;
      forget(id);
      const { outcome, because } = decision;
      log.info(`${outcome}: ${because.text}`, { id, iteration });
      toasts.ended(state, outcome, because);
      return null;
    }
    const after = nextState(state, loop, clock.now());
    if (!replace(state, after)) return null;
    log.info(`Continuing loop: ${decision.because.text}`, { id, iteration: after.iteration });
    toasts.iteration(after);
    planned.set(id, after.lastIterationAt);
    return {
      prompt: continuationOf(loop, after.instruction),
      isCurrent: () => isSameState(read(), after),
      sending: (latest) => marks.set(id, latest && markOf(latest)),
      takeBack() {
        if (marks.has(id)) marks.set(id, mark);
        replace(after, state);
      },
      failed: (why) => toasts.notContinued(after, why),
    };
  }

  /** True if another host saw the same idle event first: the prompt is due, but not from here. */
  function isPlannedElsewhere({ sessionId, lastIterationAt }: RalphLoopState): boolean {
    if (lastIterationAt === undefined || lastIterationAt === planned.get(sessionId)) return false;
    const age = clock.now() - Date.parse(lastIterationAt);
    return age >= 0 && age < config.continuationDelay;
  }

  async function idle(id: string): Promise<void> {
    const state = read();
    if (!state?.active) return;
    return state.sessionId === id ? driver.idle(id) : clearOrphan(state, id);
  }

  async function clearOrphan(state: RalphLoopState, id: string): Promise<void> {
    const exists = await options.checkSessionExists?.(state.sessionId).catch(() => true);
    if (exists !== false || !replace(state, null)) return;
    forget(state.sessionId);
    log.info('Cleared orphaned state', { orphaned: state.sessionId, current: id });
  }

  function failed(id: string, error: string): void {
    if (read()?.sessionId === id) driver.failed(id, error);
  }

  function forget(id: string): void {
    marks.delete(id);
    planned.delete(id);
    driver.forget(id);
  }

  /** Leaves out a promise from before the loop, where the messages then are known. */
  async function markStart(id: string): Promise<void> {
    const messages = await getMessages(id).then(readMessages, () => null);
    // By count alone: with an id, an answer that came while we asked would be taken for an old one.
    if (messages !== null && driver.isFree(id) && !marks.has(id))
      marks.set(id, { count: messages.length, id: null });
  }

  return { idle, failed, forget, markStart, userWrote: driver.userWrote, dispose: driver.dispose };
}

/** Writes the name of the hook before each message. */
function withName({ info, warn, error }: Log): Log {
  const named =
    (write: Log['info']): Log['info'] =>
    (message, fields) =>
      write(`[${HOOK_NAME}] ${message}`, fields);
  return { info: named(info), warn: named(warn), error: named(error) };
}
