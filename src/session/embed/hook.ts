import { isObject } from '../../core/json.ts';
import {
  isSameState,
  type Log,
  type RalphLoopState,
  readState,
  replaceState,
  writeState,
} from '../../store/embedded-loop.ts';
import { systemClock } from '../../system/clock.ts';
import { DEFAULT_CONFIG, HOOK_NAME } from './constants.ts';
import { createDriver } from './driver.ts';
import { readHostError, sessionOfEvent } from './host-event.ts';
import { createToaster } from './toaster.ts';
import type {
  Hook,
  HookContext,
  RalphLoopConfig,
  RalphLoopHook,
  RalphLoopOptions,
  StartLoopOptions,
} from './types.ts';

const silent: Log = { info() {}, warn() {}, error() {} };

/** A loop for the sessions of any host: the host passes its events in and says how messages are read and prompts sent. */
export function createRalphLoopHook(options: RalphLoopOptions = {}): Hook & RalphLoopHook {
  const config = {
    ...DEFAULT_CONFIG,
    ...defined({ match: options.match }),
    ...defined(options.config ?? {}),
  };
  const workdir = options.workdir ?? process.cwd();
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silent;
  const toasts = createToaster(options.showToast, log);
  const read = () => readState(workdir, config.stateDir, log);
  const replace = (before: RalphLoopState, next: RalphLoopState | null) =>
    replaceState(before, next, workdir, config.stateDir, log);
  const driver = createDriver({
    config,
    clock,
    log,
    toasts,
    read,
    replace,
    getMessages: options.getMessages ?? (async () => []),
    injectPrompt: options.injectPrompt ?? (async () => {}),
    checkSessionExists: options.checkSessionExists,
  });

  function startLoop(sessionId: string, prompt: string, loopOptions: StartLoopOptions = {}): boolean {
    const state = newState(sessionId, prompt, loopOptions);
    const problem = config.enabled ? problemOf(state) : 'the loop is switched off';
    if (problem !== null) {
      log.error(`[${HOOK_NAME}] Loop not started: ${problem}`, { sessionId });
      return false;
    }
    const other = read();
    if (other?.active && other.sessionId !== sessionId) {
      log.warn(`[${HOOK_NAME}] The loop of another session is replaced`, { replaced: other.sessionId });
      driver.forget(other.sessionId);
    }
    driver.forget(sessionId);
    if (!writeState(workdir, state, config.stateDir, log)) return false;
    void driver.markStart(sessionId);
    log.info(`[${HOOK_NAME}] Loop started`, {
      sessionId,
      maxIterations: state.maxIterations,
      completionPromise: state.completionPromise,
    });
    toasts.started(state);
    return true;
  }

  function newState(sessionId: string, prompt: string, given: StartLoopOptions): RalphLoopState {
    const { description, match, minToolCalls, instruction } = given;
    return {
      active: true,
      iteration: 1,
      maxIterations: given.maxIterations ?? config.defaultMaxIterations,
      completionPromise: given.completionPromise ?? config.defaultCompletionPromise,
      startedAt: new Date(clock.now()).toISOString(),
      prompt,
      sessionId,
      ...(description === undefined ? {} : { description }),
      ...(match === undefined ? {} : { match }),
      ...(minToolCalls === undefined ? {} : { minToolCalls }),
      ...(instruction === undefined ? {} : { instruction }),
    };
  }

  function cancelLoop(sessionId: string): boolean {
    const state = end(sessionId, 'Loop cancelled');
    if (state !== null) toasts.cancelled(state);
    return state !== null;
  }

  /** Takes the loop of this session away, whatever it is doing; null where it has none. */
  function end(sessionId: string, why: string): RalphLoopState | null {
    driver.forget(sessionId);
    // A change by another host in between does not save the loop.
    for (let state = read(); state?.sessionId === sessionId; state = read()) {
      if (!replace(state, null)) {
        if (isSameState(read(), state)) return null;
        continue;
      }
      log.info(`[${HOOK_NAME}] ${why}`, { sessionId, iteration: state.iteration });
      return state;
    }
    return null;
  }

  function getState(sessionId?: string): RalphLoopState | null {
    const state = read();
    return sessionId !== undefined && state?.sessionId !== sessionId ? null : state;
  }

  function isLoopActive(sessionId: string): boolean {
    return getState(sessionId)?.active === true;
  }

  async function handler({ event, sessionId, data }: HookContext): Promise<void> {
    if (!config.enabled) return;
    switch (event) {
      case 'session.idle':
        return driver.idle(sessionId);
      case 'session.deleted':
        end((isObject(data) && sessionOfEvent(data)) || sessionId, 'Session deleted, loop cleared');
        return;
      case 'session.error': {
        const { aborted, text } = readHostError(isObject(data) ? data.error : null);
        if (aborted) end(sessionId, 'User aborted, loop cleared');
        else driver.failed(sessionId, text);
        return;
      }
      case 'user.message':
        driver.userWrote(sessionId);
    }
  }

  return {
    name: HOOK_NAME,
    description: 'Agentic iteration loop for autonomous task completion',
    priority: 50,
    events: ['session.idle', 'session.error', 'session.deleted'],
    handler,
    startLoop,
    cancelLoop,
    getState,
    isLoopActive,
    dispose: driver.dispose,
  };
}

/** Without what is there by its name alone: it must not hide a default. */
function defined(given: NonNullable<RalphLoopOptions['config']>): Partial<RalphLoopConfig> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
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
