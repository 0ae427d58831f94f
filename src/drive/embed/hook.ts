import { isObject } from '../../core/json.ts';
import { systemClock } from '../../os/clock.ts';
import { DEFAULT_CONFIG, HOOK_NAME } from './constants.ts';
import { createEmbeddedDriver, type DriverOptions, type EmbeddedDriver } from './embedded-driver.ts';
import {
  isSameState,
  type RalphLoopState,
  readStateAt,
  replaceState,
  silentLog,
  writeState,
} from './embedded-loop.ts';
import { readHostError, sessionOfEvent } from './host-messages.ts';
import { createToaster } from './toaster.ts';
import type {
  Hook,
  HookContext,
  RalphLoopConfig,
  RalphLoopHook,
  RalphLoopOptions,
  StartLoopOptions,
} from './types.ts';

type HookParts = DriverOptions & { readonly driver: EmbeddedDriver };

/** Creates a loop for the sessions of any host. The host passes its events in and says how to read messages and send prompts. */
export function createRalphLoopHook(options: RalphLoopOptions = {}): Hook & RalphLoopHook {
  const parts = createParts(options);
  const { place, toasts, driver } = parts;
  const getState = (sessionId?: string): RalphLoopState | null => {
    const state = readStateAt(place);
    return sessionId !== undefined && state?.sessionId !== sessionId ? null : state;
  };
  return {
    name: HOOK_NAME,
    description: 'Agentic iteration loop for autonomous task completion',
    priority: 50,
    events: ['session.idle', 'session.error', 'session.deleted'],
    handler: (context) => handleEvent(parts, context),
    startLoop: (sessionId, prompt, loopOptions = {}) =>
      startLoop(parts, newState(parts, sessionId, prompt, loopOptions)),
    cancelLoop(sessionId) {
      const state = endLoop(parts, sessionId, 'Loop cancelled');
      if (state !== null) toasts.cancelled(state);
      return state !== null;
    },
    getState,
    isLoopActive: (sessionId) => getState(sessionId)?.active === true,
    dispose: driver.dispose,
  };
}

function createParts(options: RalphLoopOptions): HookParts {
  const config: RalphLoopConfig = { ...DEFAULT_CONFIG, ...withoutUndefined(options.config ?? {}) };
  const log = options.log ?? silentLog;
  const parts: DriverOptions = {
    config,
    clock: options.clock ?? systemClock,
    toasts: createToaster(options.showToast, log),
    place: { workdir: options.workdir ?? process.cwd(), stateDir: config.stateDir, log },
    getMessages: options.getMessages ?? (async () => []),
    injectPrompt: options.injectPrompt ?? (async () => {}),
    checkSessionExists: options.checkSessionExists,
  };
  return { ...parts, driver: createEmbeddedDriver(parts) };
}

function startLoop({ config, place, toasts, driver }: HookParts, state: RalphLoopState): boolean {
  const { log, workdir, stateDir } = place;
  const { sessionId, maxIterations, completionPromise } = state;
  const problem = config.enabled ? problemOf(state) : 'the loop is switched off';
  if (problem !== null) {
    log.error(`[${HOOK_NAME}] Loop not started: ${problem}`, { sessionId });
    return false;
  }
  const other = readStateAt(place);
  if (other?.active && other.sessionId !== sessionId) {
    log.warn(`[${HOOK_NAME}] The loop of another session is replaced`, { replaced: other.sessionId });
    driver.forget(other.sessionId);
  }
  driver.forget(sessionId);
  if (!writeState(workdir, state, stateDir, log)) return false;
  log.info(`[${HOOK_NAME}] Loop started`, { sessionId, maxIterations, completionPromise });
  toasts.started(state);
  return true;
}

function newState(
  { config, clock }: HookParts,
  sessionId: string,
  prompt: string,
  options: StartLoopOptions,
) {
  const { description, match, minToolCalls, instruction } = options;
  return {
    active: true,
    iteration: 1,
    maxIterations: options.maxIterations ?? config.defaultMaxIterations,
    completionPromise: options.completionPromise ?? config.defaultCompletionPromise,
    startedAt: new Date(clock.now()).toISOString(),
    prompt,
    sessionId,
    ...withoutUndefined({ description, match, minToolCalls, instruction }),
  };
}

/** Ends the loop of this session, whatever it is doing, and returns its last state; null if it has none. */
function endLoop({ driver, place }: HookParts, sessionId: string, why: string): RalphLoopState | null {
  driver.forget(sessionId);
  // Tries again if another host changed the loop in between.
  for (let state = readStateAt(place); state?.sessionId === sessionId; state = readStateAt(place)) {
    if (replaceState(place, state, null)) {
      place.log.info(`[${HOOK_NAME}] ${why}`, { sessionId, iteration: state.iteration });
      return state;
    }
    if (isSameState(readStateAt(place), state)) return null;
  }
  return null;
}

async function handleEvent(parts: HookParts, { event, sessionId, data }: HookContext): Promise<void> {
  const { config, driver } = parts;
  if (!config.enabled) return;
  switch (event) {
    case 'session.idle':
      return driver.idle(sessionId);
    case 'session.deleted':
      endLoop(parts, (isObject(data) && sessionOfEvent(data)) || sessionId, 'Session deleted, loop cleared');
      return;
    case 'session.error': {
      const { aborted, text } = readHostError(isObject(data) ? data.error : null);
      if (aborted) endLoop(parts, sessionId, 'User aborted, loop cleared');
      else driver.failed(sessionId, text);
      return;
    }
    case 'user.message':
      driver.userWrote(sessionId);
  }
}

/** Leaves out undefined options, which would hide a default. */
function withoutUndefined<T extends object>(options: T): { [Name in keyof T]?: Exclude<T[Name], undefined> };
function withoutUndefined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function problemOf(state: RalphLoopState): string | null {
  if (state.prompt.trim() === '') return 'the task is empty';
  if (state.completionPromise.trim() === '') return 'the completion promise is empty';
  if (/^\s*(?:BLOCKED|DECIDE):/.test(state.completionPromise))
    return 'a completion promise that begins with BLOCKED: or DECIDE: is a call for a human';
  if (!Number.isInteger(state.maxIterations) || state.maxIterations < 1) {
    return `${state.maxIterations} is no number of iterations`;
  }
  return null;
}
