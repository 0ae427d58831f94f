import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../core/error.ts';
import type { PromiseMatch } from '../core/loop.ts';
import { ensureDir, readJson, setAside, writeAtomic } from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import { projectPaths } from './paths.ts';

/** The loop of an embedded hook, as it stands in `ralph-loop-state.json`. */
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
  /** How the promise is matched, where the loop has its own way. */
  match?: PromiseMatch;
  minToolCalls?: number;
  /** Stands before each continuation. */
  instruction?: string;
  counters?: RalphLoopCounters;
}

/** What the loop has to remember between two turns besides its iteration. */
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

/** Where a hook says what it does. */
export type Log = {
  readonly [Level in 'info' | 'warn' | 'error']: (
    message: string,
    fields?: Readonly<Record<string, unknown>>,
  ) => void;
};

const silent: Log = { info() {}, warn() {}, error() {} };
const fileName = 'ralph-loop-state.json';

/** The state, or null where there is none. A file that is torn or foreign is set aside with a warning. */
export function readState(workdir: string, stateDir?: string, log: Log = silent): RalphLoopState | null {
  const path = statePath(workdir, stateDir);
  const read = readJson(path);
  if (!read.ok && read.reason === 'missing') return null;
  const { success, output } = v.safeParse(stateSchema, read.ok ? read.value : null);
  if (success) return output;
  const problem = read.ok ? `${path} does not hold the state of a loop.` : read.message;
  try {
    const aside = !read.ok && read.reason === 'unreadable' ? null : setAside(path);
    log.warn(`[ralph-loop] Failed to read state: ${problem}`, aside === null ? {} : { movedTo: aside });
  } catch (error) {
    log.warn(`[ralph-loop] Failed to read state: ${problem}`, { error: messageOf(error) });
  }
  return null;
}

/** Writes the state whatever is there; false where that failed. */
export function writeState(
  workdir: string,
  state: RalphLoopState,
  stateDir?: string,
  log: Log = silent,
): boolean {
  return change(workdir, stateDir, log, 'write', () => state) !== null;
}

/** Removes the state; true also where there was none. */
export function clearState(workdir: string, stateDir?: string, log: Log = silent): boolean {
  const path = statePath(workdir, stateDir);
  try {
    if (readJson(path).ok) withLock(`${path}.lock`, () => rmSync(path, { force: true }));
    else rmSync(path, { force: true });
    return true;
  } catch (error) {
    log.error('[ralph-loop] Failed to clear state', { error: messageOf(error) });
    return false;
  }
}

/** Counts one more iteration; null where there is no loop. */
export function incrementIteration(
  workdir: string,
  stateDir?: string,
  log: Log = silent,
): RalphLoopState | null {
  if (readState(workdir, stateDir, log) === null) return null;
  return change(workdir, stateDir, log, 'write', () => {
    const state = readState(workdir, stateDir, log);
    if (state === null) return null;
    return { ...state, iteration: state.iteration + 1, lastIterationAt: new Date().toISOString() };
  });
}

/** Compare and set: writes `next`, or removes the state for null, only if `before` still stands there. */
export function replaceState(
  before: RalphLoopState,
  next: RalphLoopState | null,
  workdir: string,
  stateDir?: string,
  log: Log = silent,
): boolean {
  const path = statePath(workdir, stateDir);
  try {
    // Without the state there is nothing to replace, and perhaps no folder for a lock either.
    if (!readJson(path).ok) return false;
    return withLock(`${path}.lock`, () => {
      if (!isSameState(readState(workdir, stateDir, log), before)) return false;
      if (next === null) rmSync(path, { force: true });
      else writeAtomic(path, stateText(next));
      return true;
    });
  } catch (error) {
    log.error('[ralph-loop] Failed to change state', { error: messageOf(error) });
    return false;
  }
}

export function isSameState(a: RalphLoopState | null, b: RalphLoopState | null): boolean {
  return a !== null && b !== null && stateText(a) === stateText(b);
}

function change(
  workdir: string,
  stateDir: string | undefined,
  log: Log,
  what: string,
  make: () => RalphLoopState | null,
): RalphLoopState | null {
  const path = statePath(workdir, stateDir);
  try {
    ensureDir(dirname(path), 0o755);
    return withLock(`${path}.lock`, () => {
      const state = make();
      if (state !== null) writeAtomic(path, stateText(state));
      return state;
    });
  } catch (error) {
    log.error(`[ralph-loop] Failed to ${what} state`, { error: messageOf(error) });
    return null;
  }
}

function statePath(workdir: string, stateDir: string | undefined): string {
  return join(stateDir ?? projectPaths(workdir).root, fileName);
}

/** Keys in one order, so that two texts are the same when the states are. */
function stateText(state: RalphLoopState): string {
  const names = Object.keys(state).sort();
  return `${JSON.stringify(state, [...names, 'toolCalls', 'withoutTools', 'failures'], 2)}\n`;
}
