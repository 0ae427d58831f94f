import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { projectPaths } from '../../config/paths.ts';
import { messageOf } from '../../core/error.ts';
import type { PromiseMatch } from '../../core/loop.ts';
import { ensureDir, readJson, removeIfThere, setAside, writeAtomic } from '../../os/files/files.ts';
import { withLock } from '../../os/files/lock.ts';

/** State of an embedded loop, as stored in `ralph-loop-state.json`. */
export interface RalphLoopState {
  active: boolean;
  /** Counted from 1. */
  iteration: number;
  maxIterations: number;
  completionPromise: string;
  /** ISO 8601, as `lastIterationAt` is. */
  startedAt: string;
  prompt: string;
  sessionId: string;
  lastIterationAt?: string;
  description?: string;
  /** How the marker is matched, if the loop overrides the config. */
  match?: PromiseMatch;
  minToolCalls?: number;
  /** First paragraph of each continuation. */
  instruction?: string;
  counters?: RalphLoopCounters;
}

/** Counters of the loop between two turns. */
export interface RalphLoopCounters {
  toolCalls: number;
  withoutTools: number;
  failures: number;
}

const optionalText = v.exactOptional(v.string());

const stateSchema: v.GenericSchema<unknown, RalphLoopState> = v.object({
  active: v.boolean(),
  iteration: v.number(),
  maxIterations: v.number(),
  completionPromise: v.string(),
  startedAt: v.string(),
  prompt: v.string(),
  sessionId: v.string(),
  lastIterationAt: optionalText,
  description: optionalText,
  match: v.exactOptional(v.picklist(['claim', 'substring', 'lenient'])),
  minToolCalls: v.exactOptional(v.number()),
  instruction: optionalText,
  counters: v.exactOptional(
    v.object({ toolCalls: v.number(), withoutTools: v.number(), failures: v.number() }),
  ),
});

/** Log of a hook. */
export type Log = {
  readonly [Level in 'info' | 'warn' | 'error']: (
    message: string,
    fields?: Readonly<Record<string, unknown>>,
  ) => void;
};

/** Log of a host that did not pass one. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** Where the state of a loop is, and where problems with it are reported. */
export type StatePlace = {
  readonly workdir: string;
  readonly stateDir?: string | undefined;
  readonly log: Log;
};

const fileName = 'ralph-loop-state.json';

/** Returns the state, or null if there is none. Sets a file that is torn or foreign aside with a warning. */
export function readState(workdir: string, stateDir?: string, log: Log = silentLog): RalphLoopState | null {
  return readStateAt({ workdir, stateDir, log });
}

export function readStateAt(place: StatePlace): RalphLoopState | null {
  const { log } = place;
  const path = statePath(place);
  const content = readJson(path);
  if (!content.ok && content.reason === 'missing') return null;
  const { success, output } = v.safeParse(stateSchema, content.ok ? content.value : null);
  if (success) return output;
  const problem = content.ok ? `${path} does not hold the state of a loop.` : content.message;
  try {
    const aside = !content.ok && content.reason === 'unreadable' ? null : setAside(path);
    log.warn(`[ralph-loop] Failed to read state: ${problem}`, aside === null ? {} : { movedTo: aside });
  } catch (error) {
    log.warn(`[ralph-loop] Failed to read state: ${problem}`, { error: messageOf(error) });
  }
  return null;
}

/** Writes the state over any other; false if that failed. */
export function writeState(
  workdir: string,
  state: RalphLoopState,
  stateDir?: string,
  log: Log = silentLog,
): boolean {
  return changeState({ workdir, stateDir, log }, () => state) !== null;
}

/** Removes the state; true also if there was none. */
export function clearState(workdir: string, stateDir?: string, log: Log = silentLog): boolean {
  const path = statePath({ workdir, stateDir });
  try {
    if (readJson(path).ok) withLock(`${path}.lock`, () => removeIfThere(path));
    else removeIfThere(path);
    return true;
  } catch (error) {
    log.error('[ralph-loop] Failed to clear state', { error: messageOf(error) });
    return false;
  }
}

/** Counts one more iteration; null if there is no loop. */
export function incrementIteration(
  workdir: string,
  stateDir?: string,
  log: Log = silentLog,
): RalphLoopState | null {
  const place = { workdir, stateDir, log };
  if (readStateAt(place) === null) return null;
  return changeState(place, () => {
    const state = readStateAt(place);
    if (state === null) return null;
    return { ...state, iteration: state.iteration + 1, lastIterationAt: new Date().toISOString() };
  });
}

/** Compare and set: writes `next`, or removes the state for null, only if `before` is still there. */
export function replaceState(
  place: StatePlace,
  before: RalphLoopState,
  next: RalphLoopState | null,
): boolean {
  const path = statePath(place);
  try {
    // Without the state there is nothing to replace, and perhaps no folder for a lock either.
    if (!readJson(path).ok) return false;
    return withLock(`${path}.lock`, () => {
      if (!isSameState(readStateAt(place), before)) return false;
      if (next === null) removeIfThere(path);
      else writeAtomic(path, stateText(next));
      return true;
    });
  } catch (error) {
    place.log.error('[ralph-loop] Failed to change state', { error: messageOf(error) });
    return false;
  }
}

export function isSameState(a: RalphLoopState | null, b: RalphLoopState | null): boolean {
  return a !== null && b !== null && stateText(a) === stateText(b);
}

function changeState(place: StatePlace, nextState: () => RalphLoopState | null): RalphLoopState | null {
  const path = statePath(place);
  try {
    ensureDir(dirname(path), 0o755);
    return withLock(`${path}.lock`, () => {
      const state = nextState();
      if (state !== null) writeAtomic(path, stateText(state));
      return state;
    });
  } catch (error) {
    place.log.error('[ralph-loop] Failed to write state', { error: messageOf(error) });
    return null;
  }
}

function statePath({ workdir, stateDir }: Pick<StatePlace, 'workdir' | 'stateDir'>): string {
  return join(stateDir ?? projectPaths(workdir).root, fileName);
}

/** Keys in one order, so that two texts are the same when the states are. */
function stateText(state: RalphLoopState): string {
  const names = Object.keys(state).sort();
  return `${JSON.stringify(state, [...names, 'toolCalls', 'withoutTools', 'failures'], 2)}\n`;
}
