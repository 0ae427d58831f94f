import { messageOf } from '../../core/error.ts';
import type { Clock } from '../../os/clock.ts';
import type { Log } from './embedded-loop.ts';
import { answerOf, lastUserMark, type Message, readMessages } from './host-messages.ts';

export type IdleTurn = {
  readonly id: string;
  readonly messages: readonly Message[];
  /** Error since the last prompt. */
  readonly error: string | null;
};

/** A prompt that is about to be sent. Its iteration is counted already, so that no other host sends it too. */
export type Continuation = {
  readonly prompt: string;
  /** False once the loop was cancelled, paused or replaced. */
  isCurrent(): boolean;
  /** Called when the prompt is sent; null if the messages before it cannot be read. */
  sending(messages: readonly Message[] | null): void;
  /** Called when the prompt was not sent, so that its iteration does not count. */
  takeBack(why: string): void;
  failed(why: string): void;
};

type IdleDriverOptions = {
  readonly clock: Clock;
  readonly log: Log;
  /** From the idle event to the prompt. */
  readonly delayMs: number;
  /** After an error, the host gets this long to recover by itself. */
  readonly recoveryMs: number;
  getMessages(sessionId: string): Promise<unknown>;
  injectPrompt(sessionId: string, prompt: string): Promise<unknown>;
  /** Judges a turn and counts the next iteration; null if no prompt follows. */
  judge(turn: IdleTurn): Promise<Continuation | null>;
};

/** State of a session besides its loop. Replaced, never reused, when the loop is taken away. */
type Session = {
  readonly id: string;
  /** Not `free` from an idle event until its prompt is sent. */
  phase: 'free' | 'planning' | 'sending';
  /** Somebody else acted since the idle event: no prompt may follow from it. */
  overtaken: boolean;
  /** An idle event that could not be acted on yet. */
  missed: boolean;
  error: string | null;
  cancelDelay: (() => void) | null;
  cancelRecovery: (() => void) | null;
};

type Driver = { readonly options: IdleDriverOptions; readonly sessions: Map<string, Session> };

type Plan = { readonly next: Continuation; readonly lastUser: string };

const overtakenText = 'the session went on without it';

/** Turns idle events into prompts: at most one each, and none that the user, an error or a cancel overtook. */
export function createIdleDriver(options: IdleDriverOptions) {
  const driver: Driver = { options, sessions: new Map() };
  const { sessions } = driver;
  return {
    idle: (id: string) => handleIdle(driver, id),
    failed: (id: string, error: string) => handleError(driver, id, error),
    userWrote(id: string): void {
      const session = sessions.get(id);
      if (session === undefined) return;
      session.missed = false;
      session.error = null;
      overtake(session);
    },
    forget: (id: string) => forget(driver, id),
    dispose(): void {
      for (const id of [...sessions.keys()]) forget(driver, id);
    },
  };
}

function sessionOf({ sessions }: Driver, id: string): Session {
  const session = sessions.get(id) ?? {
    id,
    phase: 'free',
    overtaken: false,
    missed: false,
    error: null,
    cancelDelay: null,
    cancelRecovery: null,
  };
  sessions.set(id, session);
  return session;
}

async function handleIdle(driver: Driver, id: string): Promise<void> {
  const session = sessionOf(driver, id);
  const { clock, delayMs } = driver.options;
  // Ignores a second idle event of the same turn.
  if (session.phase === 'planning' && !session.overtaken) return;
  if (session.phase !== 'free' || session.cancelRecovery !== null) {
    session.missed = true;
    return;
  }
  Object.assign(session, { phase: 'planning', overtaken: false, missed: false });
  const plan = await planFor(driver, session);
  if (plan === null) return settle(driver, session);
  if (isOvertaken(driver, session)) return drop(driver, session, plan);
  if (delayMs === 0) return send(driver, session, plan);
  const cancel = clock.timer(delayMs, () => void send(driver, session, plan));
  session.cancelDelay = () => {
    cancel();
    void drop(driver, session, plan);
  };
}

async function planFor(driver: Driver, session: Session): Promise<Plan | null> {
  const { options } = driver;
  const { id } = session;
  try {
    const messages = readMessages(await answerOf(options.getMessages(id)));
    if (isOvertaken(driver, session)) return null;
    const next = await options.judge({ id, messages, error: session.error });
    return next && { next, lastUser: lastUserMark(messages) };
  } catch (error) {
    options.log.error('The turn could not be judged', { id, error: messageOf(error) });
    return null;
  }
}

async function send(driver: Driver, session: Session, plan: Plan): Promise<void> {
  const { options } = driver;
  const { id } = session;
  const { next } = plan;
  session.cancelDelay = null;
  const messages = await answerOf(options.getMessages(id)).then(readMessages, () => null);
  const userWrote = messages !== null && lastUserMark(messages) !== plan.lastUser;
  if (isOvertaken(driver, session) || userWrote) return drop(driver, session, plan);
  if (!next.isCurrent()) return settle(driver, session);
  const { error } = session;
  session.phase = 'sending';
  session.error = null;
  next.sending(messages);
  try {
    await answerOf(options.injectPrompt(id, next.prompt));
  } catch (failure) {
    options.log.error('The prompt could not be sent', { id, error: messageOf(failure) });
    session.missed = false;
    session.error ??= error;
    if (isCurrent(driver, session)) next.failed(messageOf(failure));
    next.takeBack(messageOf(failure));
  }
  await settle(driver, session);
}

function drop(driver: Driver, session: Session, { next }: Plan): Promise<void> {
  driver.options.log.info(`Continuation dropped: ${overtakenText}`, { id: session.id });
  next.takeBack(overtakenText);
  return settle(driver, session);
}

/** Frees the session. Some hosts answer an injection only after the whole turn: its idle event came while we waited. */
async function settle(driver: Driver, session: Session): Promise<void> {
  session.phase = 'free';
  if (isCurrent(driver, session) && session.missed && session.cancelRecovery === null)
    await handleIdle(driver, session.id);
}

function handleError(driver: Driver, id: string, error: string): void {
  const { clock, log, recoveryMs } = driver.options;
  const session = sessionOf(driver, id);
  session.error = error;
  session.missed ||= session.phase === 'planning';
  session.cancelRecovery?.();
  log.info('Recovering after an error', { id, error });
  session.cancelRecovery = clock.timer(recoveryMs, () => {
    session.cancelRecovery = null;
    if (session.missed) void handleIdle(driver, id);
  });
  overtake(session);
}

function overtake(session: Session): void {
  session.overtaken = true;
  session.cancelDelay?.();
  session.cancelDelay = null;
}

function forget({ sessions }: Driver, id: string): void {
  const session = sessions.get(id);
  if (session === undefined) return;
  sessions.delete(id);
  overtake(session);
  session.cancelRecovery?.();
}

function isCurrent({ sessions }: Driver, session: Session): boolean {
  return sessions.get(session.id) === session;
}

function isOvertaken(driver: Driver, session: Session): boolean {
  return session.overtaken || !isCurrent(driver, session);
}
