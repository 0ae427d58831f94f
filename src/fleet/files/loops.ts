import { basename, join } from 'node:path';
import * as v from 'valibot';
import { systemClock } from '../../os/clock.ts';
import {
  ensureDir,
  listDir,
  lstatOf,
  readJson,
  readJsonAs,
  removeIfThere,
  setAside,
  writeAtomic,
} from '../../os/files/files.ts';
import { withLock } from '../../os/files/lock.ts';
import { removeFolder } from '../../os/files/new-folder.ts';
import type { Environment } from '../../os/process/program.ts';
import { appendFleetEvents, type FleetEvent } from './events.ts';
import { ensureLogLines, logLine } from './log.ts';
import { applyEdits, type LoopRecord, loopRecord, recordFromState, stateOf } from './loop-record.ts';
import { fleetPaths, loopPaths } from './paths.ts';
import type { Worker } from './workers.ts';

export type { LoopEnd, LoopOptions, LoopRecord, Why, WhyState } from './loop-record.ts';
export { isAsking, isInIteration, isOpen, needsYou, stateOf } from './loop-record.ts';

/** One change of a loop, with its lines for the log and its events for the timeline. */
export type LoopStep = {
  readonly change: Partial<Omit<LoopRecord, 'v' | 'name' | 'lines'>>;
  readonly lines?: readonly string[];
  readonly events?: readonly FleetEvent[];
};

/** Reads a loop, with the settings that `state.json` has now; null if there is none. */
export function readLoop(env: Environment, name: string): LoopRecord | null {
  const paths = loopPaths(env, name);
  const record = readJson(paths.record);
  const state = readJson(paths.state);
  const { success, output: loop } = v.safeParse(loopRecord, record.ok ? record.value : null);
  if (success && loop.name === name) {
    return { ...loop, settings: state.ok ? applyEdits(loop.settings, state.value).settings : loop.settings };
  }
  if (!record.ok && record.reason === 'unreadable') return null;
  if (record.ok || record.reason === 'torn') setAside(paths.record);
  return state.ok ? recordFromState(state.value, name, damagedRecords(paths).at(-1)) : null;
}

/** Returns a warning about a damaged record; null if there is none. */
export function damageText(env: Environment, name: string, loop: LoopRecord | null): string | null {
  const path = loop === null ? damagedRecords(loopPaths(env, name)).at(-1) : loop.damaged;
  if (path === undefined) return null;
  const now = loop === null ? 'and so is state.json' : 'and the loop was read from state.json';
  return `the record of '${name}' was damaged, ${now}: it is kept as ${path}`;
}

/** Reads the loop of a worker; null if it is no loop, or its loop is gone. */
export function loopOf(
  env: Environment,
  { name, metadata }: Pick<Worker, 'name' | 'metadata'>,
): LoopRecord | null {
  return metadata.ralph === true ? readLoop(env, name) : null;
}

/** Reads a loop without the edits in `state.json`: one file instead of two, for lists of many loops. */
export function readLoopRecord(env: Environment, name: string): LoopRecord | null {
  const loop = readJsonAs(loopPaths(env, name).record, loopRecord);
  return loop?.name === name ? loop : readLoop(env, name);
}

function damagedRecords({ root, record }: ReturnType<typeof loopPaths>): string[] {
  const files = listDir(root).filter((file) => file.startsWith(`${basename(record)}.bad-`));
  return files.map((file) => join(root, file));
}

export function hasLoop(env: Environment, name: string): boolean {
  return lstatOf(loopPaths(env, name).root) !== null;
}

/** Writes a new loop over an older one of that name. */
export function createLoop(env: Environment, record: LoopRecord): void {
  const paths = loopPaths(env, record.name);
  withStep(env, record.name, () => {
    ensureDir(paths.root);
    for (const old of [paths.state, paths.log, paths.events, ...ownFiles(paths)]) removeIfThere(old);
    write(env, record);
  });
}

/**
 * Changes a loop under its lock. `step` gets the newest loop and returns the change, null for none. Returns the loop
 * after it; null if there is none.
 */
export function updateLoop(
  env: Environment,
  name: string,
  step: (loop: LoopRecord) => LoopStep | null,
): LoopRecord | null {
  if (!hasLoop(env, name)) return null;
  return withStep(env, name, () => applyStep(env, name, step));
}

/** Changes a loop whose lock the caller holds. */
export function applyStep(
  env: Environment,
  name: string,
  step: (loop: LoopRecord) => LoopStep | null,
): LoopRecord | null {
  const loop = readLoop(env, name);
  if (loop === null) return null;
  const next = step(loop);
  if (next === null) return loop;
  const after: LoopRecord = { ...loop, ...next.change, lines: next.lines ?? [] };
  write(env, after, next.events);
  return after;
}

/** Writes the log lines and the state that a crash kept the last step from writing. */
export function repairLoop(env: Environment, name: string): void {
  updateLoop(env, name, (loop) => {
    project(env, loop);
    return null;
  });
}

export function listLoops(env: Environment): string[] {
  return listDir(fleetPaths(env).loops);
}

export function removeLoop(env: Environment, name: string): void {
  withStep(env, name, () => removeFolder(loopPaths(env, name).root));
}

/** Removes the files of a loop that is over, but its state and its log, which people read. */
export function retireLoop(env: Environment, name: string): void {
  const paths = loopPaths(env, name);
  withStep(env, name, () => {
    for (const path of [paths.events, ...ownFiles(paths)]) removeIfThere(path);
  });
}

/** Returns the files of a loop that only the fleet reads, damaged records included. */
function ownFiles(paths: ReturnType<typeof loopPaths>): string[] {
  return [paths.record, paths.prompt, ...damagedRecords(paths)];
}

function withStep<T>(env: Environment, name: string, use: () => T): T {
  ensureDir(fleetPaths(env).signals);
  return withLock(loopPaths(env, name).lock, use);
}

function write(env: Environment, loop: LoopRecord, events: readonly FleetEvent[] = []): void {
  const paths = loopPaths(env, loop.name);
  writeAtomic(paths.record, `${JSON.stringify(loop)}\n`);
  appendFleetEvents(paths.events, events);
  project(env, loop);
}

/** Writes the log and the state; safe to repeat. The state comes last, so that its readers find the log complete. */
function project(env: Environment, loop: LoopRecord): void {
  const paths = loopPaths(env, loop.name);
  const state = readJson(paths.state);
  // Somebody may have edited the file since the loop was read.
  const { settings, ignored } = applyEdits(loop.settings, state.ok ? state.value : null);
  const isTorn = !state.ok && state.reason === 'torn';
  const damage = isTorn ? ['state.json was not valid JSON: it is written anew, without the edit'] : [];
  const warnings = [...damage, ...ignored].map((text) => logLine(systemClock.now(), 'WARN', text));
  ensureLogLines(paths.log, [...warnings, ...loop.lines]);
  writeAtomic(paths.state, `${JSON.stringify(stateOf({ ...loop, settings }), null, 2)}\n`, { fsync: false });
}
