import { messageOf } from '../core/error.ts';
import type { Log } from '../store/embedded-loop.ts';
import type { Clock } from '../system/clock.ts';
import { lastUserMark, type Message, readMessages } from './embed/messages.ts';

/** A turn that ended in an idle session. */
export type IdleTurn = {
  readonly id: string;
  readonly messages: readonly Message[];
  /** What went wrong since the last prompt. */
  readonly error: string | null;
  /** True for an idle event that came while a prompt was sent: it may still belong to the turn before. */
  readonly late: boolean;
};

/** A prompt that is about to be sent. Its iteration is counted already, so that no other host sends it too. */
export type Continuation = {
  readonly prompt: string;
  /** False once the loop was cancelled, paused or replaced. */
  isCurrent(): boolean;
  /** The prompt goes out now; null where the messages before it cannot be read. */
  sending(messages: readonly Message[] | null): void;
  /** The prompt was not sent, so its iteration does not count. */
  takeBack(why: string): void;
  /** The host refused the prompt. */
  failed(why: string): void;
};

export type IdleDriverOptions = {
  readonly clock: Clock;
  readonly log: Log;
  /** From the idle event to the prompt. */
  readonly delayMs: number;
  /** After an error, the host gets this long to recover by itself. */
  readonly recoveryMs: number;
  getMessages(sessionId: string): Promise<unknown>;
  injectPrompt(sessionId: string, prompt: string): Promise<void>;
  /** Judges a turn and counts the next iteration; null where no prompt is to follow. */
  judge(turn: IdleTurn): Promise<Continuation | null>;
};

/** What is known of a session besides its loop. It is replaced, never reused, when the loop is taken away. */
type Session = {
  readonly id: string;
  /** From an idle event to its prompt the session is not free. */
  phase: 'free' | 'planning' | 'sending';
  /** Somebody else acted since the idle event: no prompt may follow from it. */
  overtaken: boolean;
  /** An idle event that could not be acted on yet. */
  missed: boolean;
  error: string | null;
  cancelDelay: (() => void) | null;
  cancelRecovery: (() => void) | null;
};

type Plan = { readonly next: Continuation; readonly lastUser: string };

const overtakenText = 'the session went on without it';

/** Turns idle events into prompts: at most one each, and none that the user, an error or a cancel overtook. */
export function createIdleDriver(options: IdleDriverOptions) {
  const { clock, log, delayMs, recoveryMs } = options;
  const sessions = new Map<string, Session>();

  function sessionOf(id: string): Session {
    const known = sessions.get(id);
    if (known) return known;
    const fresh: Session = {
      id,
      phase: 'free',
      overtaken: false,
      missed: false,
      error: null,
      cancelDelay: null,
      cancelRecovery: null,
    };
    sessions.set(id, fresh);
    return fresh;
  }

  async function idle(id: string, late = false): Promise<void> {
    const session = sessionOf(id);
    // The same turn ended twice.
    if (session.phase === 'planning' && !session.overtaken) return;
    if (session.phase !== 'free' || session.cancelRecovery !== null) {
      session.missed = true;
      return;
    }
    Object.assign(session, { phase: 'planning', overtaken: false, missed: false });
    const plan = await planFor(session, late);
    if (plan === null) return settle(session);
    if (isOvertaken(session)) return drop(session, plan);
    if (delayMs === 0) return send(session, plan);
    const cancel = clock.timer(delayMs, () => void send(session, plan));
    session.cancelDelay = () => {
      cancel();
      void drop(session, plan);
    };
  }

  async function planFor(session: Session, late: boolean): Promise<Plan | null> {
    const { id } = session;
    try {
      const messages = readMessages(await options.getMessages(id));
      if (isOvertaken(session)) return null;
      const next = await options.judge({ id, messages, error: session.error, late });
      return next && { next, lastUser: lastUserMark(messages) };
    } catch (error) {
      log.error('The turn could not be judged', { id, error: messageOf(error) });
      return null;
    }
  }

  async function send(session: Session, { next, lastUser }: Plan): Promise<void> {
    const { id } = session;
    session.cancelDelay = null;
    const messages = await options.getMessages(id).then(readMessages, () => null);
    const userWrote = messages !== null && lastUserMark(messages) !== lastUser;
    if (isOvertaken(session) || userWrote) return drop(session, { next, lastUser });
    if (!next.isCurrent()) return settle(session);
    const { error } = session;
    session.phase = 'sending';
    session.error = null;
    next.sending(messages);
    try {
      await options.injectPrompt(id, next.prompt);
    } catch (failure) {
      log.error('The prompt could not be sent', { id, error: messageOf(failure) });
      session.missed = false;
      session.error ??= error;
      if (isCurrent(session)) next.failed(messageOf(failure));
      next.takeBack(messageOf(failure));
    }
    await settle(session);
  }

  function drop(session: Session, { next }: Plan): Promise<void> {
    log.info(`Continuation dropped: ${overtakenText}`, { id: session.id });
    next.takeBack(overtakenText);
    return settle(session);
  }

  /** Some hosts answer an injection only after the whole turn: its idle event came while we waited. */
  async function settle(session: Session): Promise<void> {
    session.phase = 'free';
    if (isCurrent(session) && session.missed && session.cancelRecovery === null) await idle(session.id, true);
  }

  function failed(id: string, error: string): void {
    const session = sessionOf(id);
    session.error = error;
    session.missed ||= session.phase === 'planning';
    session.cancelRecovery?.();
    log.info('Recovering after an error', { id, error });
    session.cancelRecovery = clock.timer(recoveryMs, () => {
      session.cancelRecovery = null;
      if (session.missed) void idle(id);
    });
    overtake(session);
  }

  function userWrote(id: string): void {
    const session = sessions.get(id);
    if (session === undefined) return;
    session.missed = false;
    session.error = null;
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

  function isCurrent(session: Session): boolean {
    return sessions.get(session.id) === session;
  }

  function isOvertaken(session: Session): boolean {
    return session.overtaken || !isCurrent(session);
  }

  function isFree(id: string): boolean {
    return (sessions.get(id)?.phase ?? 'free') === 'free';
  }

  function dispose(): void {
    for (const id of [...sessions.keys()]) forget(id);
  }

  return { idle, failed, userWrote, forget, isFree, dispose };
}
