import { messageOf } from '../../core/error.ts';
import { isSameState, type Log, type RalphLoopState } from '../../store/embedded-loop.ts';
import type { Clock } from '../../system/clock.ts';
import { HOOK_NAME } from './constants.ts';
import {
  isFromAssistant,
  lastUserMark,
  type Mark,
  type Message,
  markOf,
  messagesSince,
  readMessages,
} from './messages.ts';
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

/** What is known of a session besides its loop. It is replaced, never reused, when the loop is taken away. */
type Session = {
  readonly id: string;
  /** From an idle event to its prompt the session is not free, and another idle event starts nothing. */
  phase: 'free' | 'deciding' | 'waiting' | 'injecting';
  /** Somebody else acted since the idle event: no prompt may follow from it. */
  overtaken: boolean;
  /** An idle event that could not be acted on yet. */
  idleMissed: boolean;
  /** What went wrong since the last prompt. */
  error: string | null;
  /** Where the turn began. */
  mark: Mark | null;
  /** The iteration that was planned here last, by its time. */
  plannedAt: string | null;
  cancelDelay: (() => void) | null;
  cancelRecovery: (() => void) | null;
};

/** A prompt that is about to be sent. Its iteration is counted already, so that no other host sends it too. */
type Plan = {
  readonly before: RalphLoopState;
  readonly after: RalphLoopState;
  readonly prompt: string;
  /** The user's last message when it was planned. */
  readonly lastUser: string;
};

/** Turns idle events into continuations: at most one each, and none that the user, an error or a cancel overtook. */
export function createDriver(options: DriverOptions) {
  const { config, clock, log, toasts, read, replace } = options;
  const sessions = new Map<string, Session>();

  function sessionOf(id: string): Session {
    const known = sessions.get(id);
    if (known) return known;
    const fresh: Session = {
      id,
      phase: 'free',
      overtaken: false,
      idleMissed: false,
      error: null,
      mark: null,
      plannedAt: null,
      cancelDelay: null,
      cancelRecovery: null,
    };
    sessions.set(id, fresh);
    return fresh;
  }

  async function idle(id: string, mustBeAnswered = false): Promise<void> {
    const state = read();
    if (!state?.active) return;
    if (state.sessionId !== id) return clearOrphan(state, id);
    const session = sessionOf(id);
    if (session.cancelRecovery !== null || session.phase === 'injecting') {
      session.idleMissed = true;
      return log.info(`[${HOOK_NAME}] Skipped: ${session.cancelRecovery ? 'in recovery' : 'injecting'}`, {
        id,
      });
    }
    if (session.phase !== 'free') return;
    session.phase = 'deciding';
    session.overtaken = false;
    try {
      const messages = readMessages(await options.getMessages(id));
      if (isCurrent(session) && !session.overtaken) act(session, messages, mustBeAnswered);
    } catch (error) {
      log.error(`[${HOOK_NAME}] Failed to read the messages`, { id, error: messageOf(error) });
    } finally {
      if (session.phase === 'deciding') session.phase = 'free';
    }
  }

  function act(session: Session, messages: readonly Message[], mustBeAnswered: boolean): void {
    const state = read();
    if (!state?.active || state.sessionId !== session.id) return;
    if (isPlannedElsewhere(session, state)) return;
    const turn = messagesSince(messages, session.mark);
    // The idle event that was missed may be a second one of the turn before, and then there is no answer yet.
    if (mustBeAnswered && !turn.some(isFromAssistant) && session.error === null) return;

    const { loop, decision } = decideTurn(state, config, turn, session.error, clock.now());
    if (decision.kind === 'stop') {
      if (!replace(state, null)) return;
      forget(session.id);
      const { outcome, because } = decision;
      log.info(`[${HOOK_NAME}] ${outcome}: ${because.text}`, { id: session.id, iteration: state.iteration });
      toasts.ended(state, outcome, because);
      return;
    }
    const after = nextState(state, loop, clock.now());
    if (!replace(state, after)) return;
    log.info(`[${HOOK_NAME}] Continuing loop: ${decision.because.text}`, {
      id: session.id,
      iteration: after.iteration,
      max: after.maxIterations,
    });
    toasts.iteration(after);
    const prompt = continuationOf(loop, after.instruction);
    const plan: Plan = { before: state, after, prompt, lastUser: lastUserMark(messages) };
    session.phase = 'waiting';
    session.plannedAt = after.lastIterationAt ?? null;
    const cancel = clock.timer(config.continuationDelay, () => void inject(session, plan));
    session.cancelDelay = () => {
      cancel();
      takeBack(session, plan);
    };
  }

  /** A session that is free here, but whose prompt is due: another host saw the same idle event first. */
  function isPlannedElsewhere(session: Session, { lastIterationAt }: RalphLoopState): boolean {
    if (lastIterationAt === undefined || lastIterationAt === session.plannedAt) return false;
    const age = clock.now() - Date.parse(lastIterationAt);
    return age >= 0 && age < config.continuationDelay;
  }

  async function inject(session: Session, plan: Plan): Promise<void> {
    session.cancelDelay = null;
    const messages = await currentMessages(session);
    if (!isCurrent(session)) return takeBack(session, plan);
    const userWrote = messages !== null && lastUserMark(messages) !== plan.lastUser;
    if (session.overtaken || userWrote) {
      log.info(`[${HOOK_NAME}] Continuation dropped: the session went on without it`, { id: session.id });
      return takeBack(session, plan);
    }
    if (!isSameState(read(), plan.after)) {
      session.phase = 'free';
      return;
    }
    const before = { mark: session.mark, error: session.error };
    session.phase = 'injecting';
    session.mark = messages === null ? null : markOf(messages);
    session.error = null;
    try {
      await options.injectPrompt(session.id, plan.prompt);
    } catch (error) {
      log.error(`[${HOOK_NAME}] Failed to inject continuation`, { id: session.id, error: messageOf(error) });
      if (!isCurrent(session)) return;
      session.idleMissed = false;
      Object.assign(session, before);
      toasts.notContinued(plan.after, messageOf(error));
      return takeBack(session, plan);
    }
    session.phase = 'free';
    if (isCurrent(session)) await makeUp(session);
  }

  /** The prompt was not sent, so its iteration does not count. */
  function takeBack(session: Session, plan: Plan): void {
    session.phase = 'free';
    replace(plan.after, plan.before);
  }

  /** Some hosts answer an injection only after the whole turn: its idle event came while we waited. */
  async function makeUp(session: Session): Promise<void> {
    if (!session.idleMissed || session.cancelRecovery !== null) return;
    session.idleMissed = false;
    await idle(session.id, true);
  }

  async function currentMessages(session: Session): Promise<Message[] | null> {
    try {
      return readMessages(await options.getMessages(session.id));
    } catch {
      return null;
    }
  }

  function failed(id: string, error: string, windowMs: number): void {
    if (read()?.sessionId !== id) return;
    const session = sessionOf(id);
    session.error = error;
    const wasActing = session.phase === 'deciding' || session.phase === 'waiting';
    overtake(session);
    session.idleMissed ||= wasActing;
    session.cancelRecovery?.();
    log.info(`[${HOOK_NAME}] Recovering after an error`, { id, error });
    session.cancelRecovery = clock.timer(windowMs, () => {
      session.cancelRecovery = null;
      if (!session.idleMissed) return;
      session.idleMissed = false;
      void idle(id);
    });
  }

  function userWrote(id: string): void {
    const session = sessions.get(id);
    if (session === undefined) return;
    session.idleMissed = false;
    overtake(session);
  }

  function overtake(session: Session): void {
    session.overtaken = true;
    session.cancelDelay?.();
    session.cancelDelay = null;
  }

  /** Nothing that this session has under way may still happen. */
  function forget(id: string): void {
    const session = sessions.get(id);
    if (session === undefined) return;
    sessions.delete(id);
    overtake(session);
    session.cancelRecovery?.();
  }

  /** A promise from before the loop does not count, where the messages then are known. */
  function markStart(id: string): void {
    const session = sessionOf(id);
    void currentMessages(session).then((messages) => {
      // By count alone: with an id, an answer that came while we asked would be taken for an old one.
      if (messages !== null && session.phase === 'free')
        session.mark ??= { count: messages.length, id: null };
    });
  }

  async function clearOrphan(state: RalphLoopState, id: string): Promise<void> {
    const exists = await options.checkSessionExists?.(state.sessionId).catch(() => true);
    if (exists !== false || !replace(state, null)) return;
    forget(state.sessionId);
    log.info(`[${HOOK_NAME}] Cleared orphaned state`, { orphaned: state.sessionId, current: id });
  }

  function isCurrent(session: Session): boolean {
    return sessions.get(session.id) === session;
  }

  function dispose(): void {
    for (const id of [...sessions.keys()]) forget(id);
  }

  return { idle, failed, userWrote, forget, markStart, dispose };
}
