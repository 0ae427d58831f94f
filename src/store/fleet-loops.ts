import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { systemClock } from '../system/clock.ts';
import {
  ensureDir,
  listDir,
  readJson,
  readJsonAs,
  readText,
  setAside,
  writeAtomic,
} from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';
import { appendFleetEvents, type FleetEvent } from './fleet-events.ts';
import { ensureLogLines, logLine } from './fleet-log.ts';
import {
  edited,
  type LoopEnd,
  type LoopOptions,
  type LoopRecord,
  type LoopSettings,
  type LoopStatus,
  loopOptions,
  loopRecord,
  type RalphState,
  recordFromState,
  stateOf,
  type Why,
  type WhyState,
} from './fleet-loop-record.ts';
import { fleetPaths, loopPaths } from './fleet-paths.ts';

export type { LoopEnd, LoopOptions, LoopRecord, LoopSettings, LoopStatus, RalphState, Why, WhyState };
export { stateOf };

/** What a step changes, and what it tells the log and the timeline. */
export type LoopStep = {
  readonly change: Partial<Omit<LoopRecord, 'v' | 'name' | 'lines'>>;
  readonly lines?: readonly string[];
  readonly events?: readonly FleetEvent[];
};

/** The loop of a worker, with the settings that stand in `state.json` now; null where it has none. */
export function readLoop(env: Environment, name: string): LoopRecord | null {
  const paths = loopPaths(env, name);
  const record = readJson(paths.record);
  const state = readJson(paths.state);
  const { success, output: loop } = v.safeParse(loopRecord, record.ok ? record.value : null);
  if (success && loop.name === name) {
    return { ...loop, settings: state.ok ? edited(loop.settings, state.value).settings : loop.settings };
  }
  if (!record.ok && record.reason === 'unreadable') return null;
  if (record.ok || record.reason === 'torn') setAside(paths.record);
  return state.ok ? recordFromState(state.value, name, lostOptions(paths)) : null;
}

/** The same without what was edited in `state.json`: half the reading, for lists of many loops. */
export function readLoopRecord(env: Environment, name: string): LoopRecord | null {
  const loop = readJsonAs(loopPaths(env, name).record, loopRecord);
  return loop?.name === name ? loop : readLoop(env, name);
}

/** What a loop whose record is lost was asked to do; null where nobody knows any more. */
function lostOptions({ root, options, record }: ReturnType<typeof loopPaths>): LoopOptions | null {
  const copy = readJsonAs(options, loopOptions);
  if (copy !== null) return copy;
  // Without a record that was set aside, another program has written the state, and asked for nothing more.
  return listDir(root).some((file) => isSetAside(record, file)) ? null : {};
}

function isSetAside(record: string, file: string): boolean {
  return file.startsWith(`${basename(record)}.bad-`);
}

/** Whether the files of a loop are there, whatever they hold. */
export function hasLoop(env: Environment, name: string): boolean {
  return fs.existsSync(loopPaths(env, name).root);
}

/** Writes a new loop in the place of an older one of that name. */
export function createLoop(env: Environment, record: LoopRecord): void {
  const paths = loopPaths(env, record.name);
  withStep(env, record.name, () => {
    ensureDir(paths.root);
    for (const old of [paths.log, paths.events, ...ownFiles(paths)]) fs.rmSync(old, { force: true });
    keepOptions(env, record);
    write(env, record);
  });
}

/**
 * Takes one step as nobody else does at the same time: `step` gets the newest loop and says what changes, null for
 * nothing. Returns the loop after it; null where there is none.
 */
export function updateLoop(
  env: Environment,
  name: string,
  step: (loop: LoopRecord) => LoopStep | null,
): LoopRecord | null {
  if (!hasLoop(env, name)) return null;
  return withStep(env, name, () => applyStep(env, name, step));
}

/** The same for somebody who holds the lock of the loop already. */
export function applyStep(
  env: Environment,
  name: string,
  step: (loop: LoopRecord) => LoopStep | null,
): LoopRecord | null {
  const loop = readLoop(env, name);
  if (loop === null) return null;
  const taken = step(loop);
  if (taken === null) return loop;
  const next: LoopRecord = { ...loop, ...taken.change, lines: taken.lines ?? [] };
  if (taken.change.options !== undefined) keepOptions(env, next);
  write(env, next, taken.events);
  return next;
}

/** After a crash: what the last step should have written beside the record. */
export function repairLoop(env: Environment, name: string): void {
  updateLoop(env, name, (loop) => {
    project(env, loop);
    return null;
  });
}

/** The names of all loops there are. */
export function listLoops(env: Environment): string[] {
  const { loops } = fleetPaths(env);
  try {
    return fs.readdirSync(loops).sort();
  } catch {
    return [];
  }
}

export function removeLoop(env: Environment, name: string): void {
  withStep(env, name, () => fs.rmSync(loopPaths(env, name).root, { recursive: true, force: true }));
}

/** Keeps the files of a loop in mind; the answer puts them back as they were. */
export function keepLoop(env: Environment, name: string): () => void {
  const { root, record, options, events, prompt, log, state } = loopPaths(env, name);
  const files = [log, events, prompt, options, record, state].flatMap((path) => {
    const text = readText(path);
    return text === null ? [] : [{ path, text }];
  });
  return () => {
    if (files.length === 0) return;
    withStep(env, name, () => {
      ensureDir(root);
      for (const { path, text } of files) writeAtomic(path, text);
    });
  };
}

/** Leaves of a loop that is over what people look at: its state and its log. */
export function retireLoop(env: Environment, name: string): void {
  const paths = loopPaths(env, name);
  withStep(env, name, () => {
    for (const path of [paths.events, ...ownFiles(paths)]) fs.rmSync(path, { force: true });
  });
}

/** What nobody but us reads of a loop, a damaged record too. */
function ownFiles({ root, record, options, prompt }: ReturnType<typeof loopPaths>): string[] {
  const damaged = listDir(root).filter((file) => isSetAside(record, file));
  return [record, options, prompt, ...damaged.map((file) => join(root, file))];
}

/** A second copy of what a loop was asked: one that lost its checks must not go on without them. */
function keepOptions(env: Environment, { name, options }: LoopRecord): void {
  writeAtomic(loopPaths(env, name).options, `${JSON.stringify(options)}\n`);
}

function withStep<T>(env: Environment, name: string, use: () => T): T {
  ensureDir(fleetPaths(env).marks);
  return withLock(loopPaths(env, name).lock, use);
}

function write(env: Environment, loop: LoopRecord, events: readonly FleetEvent[] = []): void {
  const paths = loopPaths(env, loop.name);
  writeAtomic(paths.record, `${JSON.stringify(loop)}\n`);
  appendFleetEvents(paths.events, events);
  project(env, loop);
}

/** Whatever is written here can be written again. The state comes last: who sees it finds the log as far as that. */
function project(env: Environment, loop: LoopRecord): void {
  const paths = loopPaths(env, loop.name);
  const state = readJson(paths.state);
  const ignored = ignoredIn(state, loop);
  const warnings = ignored.map((text) => logLine(systemClock.now(), 'WARN', text));
  ensureLogLines(paths.log, [...warnings, ...loop.lines]);
  writeAtomic(paths.state, `${JSON.stringify(stateOf(loop), null, 2)}\n`, { fsync: false });
}

/** What somebody wrote into the state that will not be there any more. */
function ignoredIn(state: ReturnType<typeof readJson>, { settings }: LoopRecord): readonly string[] {
  if (state.ok) return edited(settings, state.value).ignored;
  return state.reason === 'torn'
    ? ['state.json was not valid JSON: it is written anew, without the edit']
    : [];
}
