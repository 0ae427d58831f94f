import * as fs from 'node:fs';
import { isObject } from '../core/shape.ts';
import { ensureDir, readJson, readText, setAside, writeAtomic } from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';
import { appendFleetEvents, type EndReason, type FleetEvent } from './fleet-events.ts';
import { ensureLogLines } from './fleet-log.ts';
import { fleetPaths, loopPaths } from './fleet-paths.ts';
import { readStamp, stamp } from './fleet-time.ts';

export type LoopStatus = 'running' | 'paused' | 'stopped' | 'failed';

/** What a loop is doing, as `swarm why` and `swarm top` show it. */
export type WhyState =
  | 'starting'
  | 'working'
  | 'permission'
  | 'answer'
  | 'limit'
  | 'logged-out'
  | 'blocked'
  | 'idle'
  | 'backoff'
  | 'queued'
  | 'paused'
  | 'done'
  | 'failed'
  | 'window-lost'
  | 'stopped';

/** `since` and `until` are epoch milliseconds. */
export type Why = {
  readonly state: WhyState;
  readonly since: number;
  readonly detail?: string;
  readonly until?: number;
  /** Of a loop that is over. */
  readonly reason?: EndReason;
};

/** `state.json` of a loop; the names are the contract of that file, which people read and edit. */
export type RalphState = {
  readonly worker_name: string;
  readonly prompt_file: string;
  readonly max_iterations: number;
  readonly current_iteration: number;
  readonly status: LoopStatus;
  readonly started: string;
  readonly last_iteration_started: string;
  readonly consecutive_failures: number;
  readonly total_failures: number;
  readonly done_pattern: string | null;
  readonly inactivity_timeout: number;
};

/** The part of `state.json` that people may change while the loop runs. */
export type LoopSettings = Pick<
  RalphState,
  'prompt_file' | 'max_iterations' | 'done_pattern' | 'inactivity_timeout'
>;

/** What a loop was asked to do beyond the settings, and what does not change. */
export type LoopOptions = {
  /** End the iteration at this share of the context window, in percent. */
  readonly maxContext?: number;
  readonly restartOnCompact?: boolean;
  /** Loops of one account wait together at a usage limit. */
  readonly account?: string;
  /** Options of `ralph run`: each iteration is one of `ralph run`, with all that it checks. */
  readonly run?: readonly string[];
  /** The program that does it, and its run, once there is one. */
  readonly engine?: readonly string[];
  readonly runId?: string;
  /** The PATH of whoever spawned it: the supervisor may have another. */
  readonly path?: string;
};

/** `loop.json`: the truth about a loop. Written as a whole, so that a crash leaves the old one or the new. */
export type LoopRecord = {
  readonly v: 1;
  readonly name: string;
  readonly status: LoopStatus;
  /** The last iteration that was claimed, and the last whose end was booked. */
  readonly iteration: number;
  readonly ended: number;
  /** Names the start of this iteration: one that is run again after a limit has the same number, but another start. */
  readonly launch: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly iterationStartedAt: number | null;
  readonly failures: number;
  readonly totalFailures: number;
  /** Not before this time the next iteration starts. */
  readonly waitUntil: number | null;
  /** Nobody drives it yet (`--no-run`). */
  readonly held: boolean;
  readonly why: Why;
  readonly settings: LoopSettings;
  readonly options: LoopOptions;
  /** Lines of `iterations.log` that the last step brought: after a crash, what is missing is added. */
  readonly lines: readonly string[];
};

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
  if (record.ok && isRecord(record.value, name)) {
    const edited = state.ok ? settingsIn(state.value) : null;
    return edited === null ? record.value : { ...record.value, settings: edited };
  }
  if (!record.ok && record.reason === 'unreadable') return null;
  if (record.ok || record.reason === 'torn') setAside(paths.record);
  return state.ok ? recordFromState(state.value, name) : null;
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
    for (const old of [paths.log, paths.events, paths.prompt]) fs.rmSync(old, { force: true });
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
  const { root, record, events, prompt, log, state } = loopPaths(env, name);
  const files = [log, events, prompt, record, state].flatMap((path) => {
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
  const { record, events, prompt } = loopPaths(env, name);
  withStep(env, name, () => {
    for (const path of [record, events, prompt]) fs.rmSync(path, { force: true });
  });
}

/** What `state.json` says of a loop. */
export function stateOf(loop: LoopRecord): RalphState {
  return {
    worker_name: loop.name,
    prompt_file: loop.settings.prompt_file,
    max_iterations: loop.settings.max_iterations,
    current_iteration: loop.iteration,
    status: loop.status,
    started: stamp(loop.startedAt),
    last_iteration_started: loop.iterationStartedAt === null ? '' : stamp(loop.iterationStartedAt),
    consecutive_failures: loop.failures,
    total_failures: loop.totalFailures,
    done_pattern: loop.settings.done_pattern,
    inactivity_timeout: loop.settings.inactivity_timeout,
  };
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
  ensureLogLines(paths.log, loop.lines);
  writeAtomic(paths.state, `${JSON.stringify(stateOf(loop), null, 2)}\n`, { fsync: false });
}

/** Null where an edit left something that cannot be meant: what held before then goes on to hold. */
function settingsIn(value: unknown): LoopSettings | null {
  if (!isObject(value)) return null;
  const { prompt_file, max_iterations, inactivity_timeout, done_pattern = null } = value;
  if (typeof prompt_file !== 'string' || !isCount(max_iterations)) return null;
  if (!isCount(inactivity_timeout) || inactivity_timeout === 0) return null;
  if (done_pattern !== null && typeof done_pattern !== 'string') return null;
  return { prompt_file, max_iterations, inactivity_timeout, done_pattern };
}

/** A loop that another program wrote, or whose record was lost. */
function recordFromState(value: unknown, name: string): LoopRecord | null {
  const settings = settingsIn(value);
  if (settings === null || !isObject(value)) return null;
  const { current_iteration: iteration, started, last_iteration_started: last } = value;
  const { consecutive_failures: failures, total_failures: totalFailures } = value;
  const startedAt = typeof started === 'string' ? (readStamp(started) ?? 0) : 0;
  return {
    v: 1,
    name,
    status: isStatus(value.status) ? value.status : 'stopped',
    iteration: isCount(iteration) ? iteration : 0,
    ended: isCount(iteration) ? iteration : 0,
    launch: 0,
    startedAt,
    iterationStartedAt: typeof last === 'string' ? readStamp(last) : null,
    failures: isCount(failures) ? failures : 0,
    totalFailures: isCount(totalFailures) ? totalFailures : 0,
    waitUntil: null,
    held: false,
    why: { state: 'queued', since: startedAt },
    settings,
    options: {},
    lines: [],
  };
}

function isRecord(value: unknown, name: string): value is LoopRecord {
  if (!isObject(value) || value.v !== 1 || value.name !== name) return false;
  const counts = [
    value.iteration,
    value.ended,
    value.launch,
    value.failures,
    value.totalFailures,
    value.startedAt,
  ];
  return (
    isStatus(value.status) &&
    counts.every(isCount) &&
    settingsIn(value.settings) !== null &&
    isObject(value.why) &&
    isObject(value.options) &&
    Array.isArray(value.lines)
  );
}

function isStatus(value: unknown): value is LoopStatus {
  return value === 'running' || value === 'paused' || value === 'stopped' || value === 'failed';
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
