import type { Clock } from '../../os/clock.ts';
import { DEFAULT_RECOVERY_WINDOW, HOOK_NAME } from './constants.ts';
import {
  isSameState,
  type Log,
  type RalphLoopState,
  readStateAt,
  replaceState,
  type StatePlace,
} from './embedded-loop.ts';
import { continuationOf, decideTurn, nextState } from './embedded-turn.ts';
import { isFromAssistant, type Mark, markOf, messagesSince, readMessages } from './host-messages.ts';
import { type Continuation, createIdleDriver, type IdleTurn } from './idle-driver.ts';
import type { Toaster } from './toaster.ts';
import type { RalphLoopConfig } from './types.ts';

export type DriverOptions = {
  readonly config: RalphLoopConfig;
  readonly clock: Clock;
  readonly toasts: Toaster;
  readonly place: StatePlace;
  getMessages(sessionId: string): Promise<unknown>;
  injectPrompt(sessionId: string, prompt: string): Promise<void>;
  readonly checkSessionExists: ((sessionId: string) => Promise<boolean>) | undefined;
};

type Driver = DriverOptions & {
  readonly log: Log;
  /** Start of the current turn, by session. */
  readonly marks: Map<string, Mark | null>;
  /** Time of the last iteration that was planned here, by session. */
  readonly plannedAt: Map<string, string | undefined>;
  readonly idleDriver: ReturnType<typeof createIdleDriver>;
};

export type EmbeddedDriver = ReturnType<typeof createEmbeddedDriver>;

/** Drives the loop of the embedded hook: one at a time, with its state in one file. */
export function createEmbeddedDriver(options: DriverOptions) {
  const { config, clock, place, getMessages, injectPrompt } = options;
  const log = withName(place.log);
  const idleDriver = createIdleDriver({
    clock,
    log,
    delayMs: config.continuationDelay,
    recoveryMs: config.recoveryWindow ?? DEFAULT_RECOVERY_WINDOW,
    getMessages,
    injectPrompt,
    judge: (turn) => judge(driver, turn),
  });
  const driver: Driver = { ...options, log, marks: new Map(), plannedAt: new Map(), idleDriver };
  return {
    async idle(id: string): Promise<void> {
      const state = readStateAt(place);
      if (!state?.active) return;
      return state.sessionId === id ? idleDriver.idle(id) : clearOrphan(driver, state, id);
    },
    failed(id: string, error: string): void {
      if (readStateAt(place)?.sessionId === id) idleDriver.failed(id, error);
    },
    forget: (id: string) => forget(driver, id),
    markStart: (id: string) => markStart(driver, id),
    userWrote: idleDriver.userWrote,
    dispose: idleDriver.dispose,
  };
}

/** Decides about the turn that ended, and writes the state of the next iteration. */
async function judge(driver: Driver, { id, messages, error, late }: IdleTurn): Promise<Continuation | null> {
  const { config, clock, toasts, place, log } = driver;
  const state = readStateAt(place);
  if (!state?.active || state.sessionId !== id || isPlannedElsewhere(driver, state)) return null;
  const turn = messagesSince(messages, driver.marks.get(id) ?? null);
  if (late && error === null && !turn.some(isFromAssistant)) return null;

  const { loop, decision } = decideTurn(state, config, { messages: turn, error, endedAt: clock.now() });
  const { iteration } = state;
  if (decision.kind === 'stop') {
    if (!replaceState(place, state, null)) return null;
    forget(driver, id);
    const { outcome, because } = decision;
    log.info(`${outcome}: ${because.text}`, { id, iteration });
    toasts.ended(state, outcome, because);
    return null;
  }
  const after = nextState(state, loop, clock.now());
  if (!replaceState(place, state, after)) return null;
  log.info(`Continuing loop: ${decision.because.text}`, { id, iteration: after.iteration });
  toasts.iteration(after);
  driver.plannedAt.set(id, after.lastIterationAt);
  return continuationFor(driver, state, after, continuationOf(loop, after.instruction));
}

function continuationFor(
  { marks, place, toasts }: Driver,
  before: RalphLoopState,
  after: RalphLoopState,
  prompt: string,
): Continuation {
  const { sessionId: id } = before;
  const mark = marks.get(id) ?? null;
  return {
    prompt,
    isCurrent: () => isSameState(readStateAt(place), after),
    sending: (messages) => marks.set(id, messages && markOf(messages)),
    takeBack() {
      if (marks.has(id)) marks.set(id, mark);
      replaceState(place, after, before);
    },
    failed: (why) => toasts.notContinued(after, why),
  };
}

/** True if another host saw the same idle event first, and sends the prompt. */
function isPlannedElsewhere(
  { config, clock, plannedAt }: Driver,
  { sessionId, lastIterationAt }: RalphLoopState,
): boolean {
  if (lastIterationAt === undefined || lastIterationAt === plannedAt.get(sessionId)) return false;
  const age = clock.now() - Date.parse(lastIterationAt);
  return age >= 0 && age < config.continuationDelay;
}

/** Removes the state of a loop whose session does not exist any more. */
async function clearOrphan(driver: Driver, state: RalphLoopState, id: string): Promise<void> {
  const exists = await driver.checkSessionExists?.(state.sessionId).catch(() => true);
  if (exists !== false || !replaceState(driver.place, state, null)) return;
  forget(driver, state.sessionId);
  driver.log.info('Cleared orphaned state', { orphaned: state.sessionId, current: id });
}

function forget({ marks, plannedAt, idleDriver }: Driver, id: string): void {
  marks.delete(id);
  plannedAt.delete(id);
  idleDriver.forget(id);
}

/** Marks where the first turn begins, so that a claim from before the loop does not count. */
async function markStart({ getMessages, idleDriver, marks }: Driver, id: string): Promise<void> {
  const messages = await getMessages(id).then(readMessages, () => null);
  // Marks by count alone: an id could be that of an answer which came while we asked.
  if (messages !== null && idleDriver.isFree(id) && !marks.has(id))
    marks.set(id, { count: messages.length, id: null });
}

/** Writes the name of the hook before each message. */
function withName({ info, warn, error }: Log): Log {
  const prefix =
    (write: Log['info']): Log['info'] =>
    (message, fields) =>
      write(`[${HOOK_NAME}] ${message}`, fields);
  return { info: prefix(info), warn: prefix(warn), error: prefix(error) };
}
