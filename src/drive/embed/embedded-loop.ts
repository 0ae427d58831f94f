import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { projectPaths } from '../../config/paths.ts';
import { messageOf } from '../../core/error.ts';
import type { PromiseMatch } from '../../core/loop.ts';
import { ensureDir, lstatOf, readJson, removeIfThere, setAside, writeAtomic } from '../../os/files/files.ts';
import { withLock } from '../../os/files/lock.ts';

/** State of an embedded loop, as stored in `ralph-loop-state.json`. Published, so that it needs no types of valibot. */
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
  refusals?: number;
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
    v.object({
      toolCalls: v.number(),
      withoutTools: v.number(),
      failures: v.number(),
      refusals: v.exactOptional(v.number()),
    }),
  ),
});

export type Log = {
  readonly [Level in 'info' | 'warn' | 'error']: (
    message: string,
    fields?: Readonly<Record<string, unknown>>,
  ) => void;
};

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
  return changeState({ workdir, stateDir, log }, 'write', () => state);
}

/** Removes the state; true also if there was none. */
export function clearState(workdir: string, stateDir?: string, log: Log = silentLog): boolean {
  const place = { workdir, stateDir, log };
  return lstatOf(statePath(place)) === null || changeState(place, 'clear', () => null);
}

/** Counts one more iteration; null if there is no loop. */
export function incrementIteration(
  workdir: string,
  stateDir?: string,
  log: Log = silentLog,
): RalphLoopState | null {
  const state = readState(workdir, stateDir, log);
  if (state === null) return null;
  const next = { ...state, iteration: state.iteration + 1, lastIterationAt: new Date().toISOString() };
  return replaceState({ workdir, stateDir, log }, state, next) ? next : null;
}

/** Compare and set: writes `next`, or removes the state for null, only if `before` is still there. */
export function replaceState(
  place: StatePlace,
  before: RalphLoopState,
  next: RalphLoopState | null,
): boolean {
  // Without the state there is nothing to replace, and no folder to make for its lock.
  if (lstatOf(statePath(place)) === null) return false;
  return changeState(place, 'change', () => (isSameState(readStateAt(place), before) ? next : undefined));
}

export function isSameState(a: RalphLoopState | null, b: RalphLoopState | null): boolean {
  return a !== null && isDeepStrictEqual(a, b);
}

/** Writes the next state under a lock: null removes the state, undefined leaves it. False if it was left, or that failed. */
function changeState(place: StatePlace, verb: string, nextState: () => RalphLoopState | null | undefined) {
  const path = statePath(place);
  try {
    ensureDir(dirname(path), 0o755);
    return withLock(`${path}.lock`, () => {
      const state = nextState();
      if (state === null) removeIfThere(path);
      else if (state !== undefined) writeAtomic(path, `${JSON.stringify(state, null, 2)}\n`);
      return state !== undefined;
    });
  } catch (error) {
    place.log.error(`[ralph-loop] Failed to ${verb} state`, { error: messageOf(error) });
    return false;
  }
}

function statePath({ workdir, stateDir }: Pick<StatePlace, 'workdir' | 'stateDir'>): string {
  return join(stateDir ?? projectPaths(workdir).root, fileName);
}
