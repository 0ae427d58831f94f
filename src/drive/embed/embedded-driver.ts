import { decide, newLoop } from '../../core/decide.ts';
import { type LoopPlan, type LoopState, noLimits } from '../../core/loop.ts';
import type { Turn } from '../../core/turn.ts';
import type { Clock } from '../../os/clock.ts';
import { DEFAULT_RECOVERY_WINDOW, HOOK_NAME } from './constants.ts';
import { continuationOf } from './detect.ts';
import {
  isSameState,
  type Log,
  type RalphLoopCounters,
  type RalphLoopState,
  readStateAt,
  replaceState,
  type StatePlace,
} from './embedded-loop.ts';
import {
  isFromAssistant,
  type Mark,
  type Message,
  markOf,
  messagesSince,
  readAnswer,
} from './host-messages.ts';
import { type Continuation, createIdleDriver, type IdleTurn } from './idle-driver.ts';
import type { Toaster } from './toaster.ts';
import type { RalphLoopConfig } from './types.ts';

export type DriverOptions = {
  readonly config: RalphLoopConfig;
  readonly clock: Clock;
  readonly toasts: Toaster;
  readonly place: StatePlace;
  getMessages(sessionId: string): Promise<unknown>;
  injectPrompt(sessionId: string, prompt: string): Promise<unknown>;
  readonly checkSessionExists: ((sessionId: string) => Promise<boolean>) | undefined;
};

type Driver = DriverOptions & {
  readonly log: Log;
  /** Start of the current turn, by session. */
  readonly marks: Map<string, Mark>;
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
  const driver: Driver = { ...options, log, marks: new Map(), idleDriver };
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
    userWrote: idleDriver.userWrote,
    dispose: idleDriver.dispose,
  };
}

/** Decides about the turn that ended, and writes the state of the next iteration. */
async function judge(driver: Driver, { id, messages, error }: IdleTurn): Promise<Continuation | null> {
  const { config, clock, toasts, place, log } = driver;
  const state = readStateAt(place);
  if (!state?.active || state.sessionId !== id) return null;
  const mark = driver.marks.get(id) ?? null;
  const turn = messagesSince(messages, mark);
  // One prompt for each answer: ours has none yet, so this is the idle event of the turn before.
  const isAnswered = mark === null || turn.some(isFromAssistant);
  if (error === null && !isAnswered) return null;

  const { loop, decision } = decide(loopOf(state, config), turnOf(turn, error, clock.now()), []);
  const { iteration } = state;
  if (decision.kind === 'stop') {
    if (!replaceState(place, state, null)) return null;
    forget(driver, id);
    const { outcome, because } = decision;
    log.info(`${outcome}: ${because.text}`, { id, iteration });
    toasts.ended(state, outcome, because.text);
    return null;
  }
  const after = nextState(state, loop, clock.now());
  if (!replaceState(place, state, after)) return null;
  log.info(`Continuing loop: ${decision.because.text}`, { id, iteration: after.iteration });
  toasts.iteration(after);
  return continuationFor(driver, state, after, continuationOf(loop, after.instruction));
}

function continuationFor(
  { marks, place, toasts }: Driver,
  before: RalphLoopState,
  after: RalphLoopState,
  prompt: string,
): Continuation {
  const { sessionId: id } = before;
  const mark = marks.get(id);
  return {
    prompt,
    isCurrent: () => isSameState(readStateAt(place), after),
    sending(messages) {
      if (messages !== null) marks.set(id, markOf(messages));
    },
    takeBack() {
      if (mark === undefined) marks.delete(id);
      else if (marks.has(id)) marks.set(id, mark);
      replaceState(place, after, before);
    },
    failed: (why) => toasts.notContinued(after, why),
  };
}

/** Removes the state of a loop whose session does not exist any more. */
async function clearOrphan(driver: Driver, state: RalphLoopState, id: string): Promise<void> {
  const exists = await driver.checkSessionExists?.(state.sessionId).catch(() => true);
  if (exists !== false || !replaceState(driver.place, state, null)) return;
  forget(driver, state.sessionId);
  driver.log.info('Cleared orphaned state', { orphaned: state.sessionId, current: id });
}

function forget({ marks, idleDriver }: Driver, id: string): void {
  marks.delete(id);
  idleDriver.forget(id);
}

/** Writes the name of the hook before each message. */
function withName({ info, warn, error }: Log): Log {
  const prefix =
    (write: Log['info']): Log['info'] =>
    (message, fields) =>
      write(`[${HOOK_NAME}] ${message}`, fields);
  return { info: prefix(info), warn: prefix(warn), error: prefix(error) };
}

function turnOf(messages: readonly Message[], hostError: string | null, endedAt: number): Turn {
  const answer = readAnswer(messages, hostError);
  return {
    ...answer,
    end: answer.error === undefined ? 'finished' : 'failed',
    exitCode: null,
    progress: { commits: 0, filesChanged: 0 },
    endedAt,
    durationMs: 0,
  };
}

function nextState(state: RalphLoopState, loop: LoopState, now: number): RalphLoopState {
  const counters: RalphLoopCounters = {
    toolCalls: loop.toolCalls,
    withoutTools: loop.withoutTools,
    failures: loop.failures,
    ...(loop.refusals ? { refusals: loop.refusals } : {}),
  };
  return { ...state, iteration: loop.iteration, lastIterationAt: new Date(now).toISOString(), counters };
}

function loopOf(state: RalphLoopState, config: RalphLoopConfig): LoopState {
  return { ...newLoop(planOf(state, config), state.prompt, state.iteration), ...state.counters };
}

function planOf(state: RalphLoopState, config: RalphLoopConfig): LoopPlan {
  const match = state.match ?? config.match ?? 'lenient';
  return {
    id: state.sessionId,
    completion: { promise: { token: state.completionPromise, match } },
    limits: {
      ...noLimits,
      iterations: state.maxIterations,
      failures: config.maxFailures ?? noLimits.failures,
      withoutTools: config.maxTurnsWithoutTools ?? 0,
    },
    minToolCalls: state.minToolCalls ?? config.minToolCalls ?? null,
    countInPrompt: false,
  };
}
