import * as v from 'valibot';
import { isObject } from '../../core/json.ts';
import { outcome, reason } from '../../journal/loop-schemas.ts';
import { runIdFor } from '../../journal/runs.ts';
import { readStamp, stamp } from './time.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const texts = v.pipe(v.array(v.string()), v.readonly());

const status = v.picklist(['running', 'paused', 'stopped', 'failed']);

/**
 * How a loop ended. `exitCode` is that of `ralph run` for the outcome; 0 also for a loop that had nothing to reach and
 * used up its iterations.
 */
export const loopEnd = v.object({ outcome, because: reason, exitCode: count });

/** State of a loop, as `swarm why` and `swarm top` show it. */
const whyState = v.picklist([
  'starting',
  'working',
  'permission',
  'answer',
  'limit',
  'logged-out',
  'blocked',
  'idle',
  'backoff',
  'queued',
  'paused',
  'done',
  'unfinished',
  'failed',
  'window-lost',
  'stopped',
]);

/** `since` and `until` are epoch milliseconds. */
const why = v.object({
  state: whyState,
  since: v.number(),
  detail: v.exactOptional(v.string()),
  until: v.exactOptional(v.number()),
});

/** The part of `state.json` that people may change while the loop runs. */
export const loopSettings = v.object({
  prompt_file: v.string(),
  max_iterations: count,
  done_pattern: v.nullish(v.string(), null),
  inactivity_timeout: v.pipe(count, v.minValue(1)),
});

/** `state.json` of a loop; the names are the contract of that file, which people and other programs write, too. */
const ralphState = v.object({
  worker_name: v.fallback(v.string(), ''),
  ...loopSettings.entries,
  current_iteration: v.fallback(count, 0),
  status: v.fallback(status, 'stopped'),
  started: v.fallback(v.string(), ''),
  last_iteration_started: v.fallback(v.string(), ''),
  consecutive_failures: v.fallback(count, 0),
  total_failures: v.fallback(count, 0),
});

/** Options of a loop that do not change, unlike the settings. */
export const loopOptions = v.object({
  /** End the iteration at this share of the context window, in percent. */
  maxContext: v.exactOptional(v.number()),
  restartOnCompact: v.exactOptional(v.boolean()),
  /** End the agent at the first match of the done pattern; otherwise it is looked for when the iteration has ended. */
  checkDoneContinuous: v.exactOptional(v.boolean()),
  /** Loops of one account wait together at a usage limit. */
  account: v.exactOptional(v.string()),
  /** Options of `ralph run`: each iteration is one of `ralph run`, with all that it checks. */
  run: v.exactOptional(texts),
  /** Command of `ralph` for it, and the id of its run. */
  engine: v.exactOptional(texts),
  runId: v.exactOptional(v.string()),
});

/** `loop.json`: the state of a loop. Written as a whole, so that a crash leaves the old one or the new. */
export const loopRecord = v.object({
  v: v.literal(1),
  name: v.string(),
  status,
  /** The last iteration that was claimed, and the last whose end was booked. */
  iteration: count,
  ended: count,
  /** Number of the start: an iteration that runs again after a limit keeps its number, but has another start. */
  launch: count,
  /** Epoch milliseconds. */
  startedAt: count,
  iterationStartedAt: v.nullable(v.number()),
  failures: count,
  totalFailures: count,
  /** The next iteration starts no earlier. */
  waitUntil: v.nullable(v.number()),
  /** Nobody drives it yet (`--no-run`). */
  held: v.boolean(),
  why,
  /** Null while it has not ended, and of a loop whose end was written by another program. */
  end: v.nullable(loopEnd),
  settings: loopSettings,
  options: loopOptions,
  /** The last event in the journal of its run that was booked. */
  runSeq: v.exactOptional(v.number()),
  /** Path of the damaged record that it replaces. */
  damaged: v.exactOptional(v.string()),
  /** Lines of `iterations.log` from the last step. A repair after a crash adds those that are missing. */
  lines: texts,
});

export type LoopEnd = Readonly<v.InferOutput<typeof loopEnd>>;
export type WhyState = v.InferOutput<typeof whyState>;
export type Why = Readonly<v.InferOutput<typeof why>>;
export type RalphState = Readonly<v.InferOutput<typeof ralphState>>;
export type LoopSettings = Readonly<v.InferOutput<typeof loopSettings>>;
export type LoopOptions = Readonly<v.InferOutput<typeof loopOptions>>;
export type LoopRecord = Readonly<v.InferOutput<typeof loopRecord>>;

/** True while a loop may still run an iteration. */
export function isOpen({ status }: Pick<LoopRecord, 'status'>): boolean {
  return status === 'running' || status === 'paused';
}

/** True if a person has to act before the loop goes on. */
export function needsYou(state: WhyState): boolean {
  return state === 'permission' || state === 'answer' || state === 'blocked' || state === 'logged-out';
}

/** True while a question on the screen of the agent pauses the loop. */
export function isAsking({ status, why }: Pick<LoopRecord, 'status' | 'why'>): boolean {
  return status === 'running' && needsYou(why.state);
}

/** True while an iteration is claimed whose end is not booked yet. */
export function isInIteration({ iteration, ended }: LoopRecord): boolean {
  return iteration > ended;
}

export type NewLoop = {
  readonly settings: LoopSettings;
  readonly options: LoopOptions;
  /** Start the agent, but drive nothing yet. */
  readonly held: boolean;
};

export function newRecord(name: string, { settings, options, held }: NewLoop, at: number): LoopRecord {
  return {
    v: 1,
    name,
    status: 'running',
    iteration: 0,
    ended: 0,
    launch: 0,
    startedAt: at,
    iterationStartedAt: null,
    failures: 0,
    totalFailures: 0,
    waitUntil: null,
    held,
    why: { state: 'queued', since: at },
    end: null,
    settings,
    options: options.run === undefined ? options : { ...options, runId: runIdFor(name, at) },
    lines: [],
  };
}

export function stateOf(loop: LoopRecord): RalphState {
  return {
    worker_name: loop.name,
    ...loop.settings,
    current_iteration: loop.iteration,
    status: isAsking(loop) ? 'paused' : loop.status,
    started: stamp(loop.startedAt),
    last_iteration_started: loop.iterationStartedAt === null ? '' : stamp(loop.iterationStartedAt),
    consecutive_failures: loop.failures,
    total_failures: loop.totalFailures,
  };
}

/** Returns the settings with the edits in `state.json`, and a text for each invalid edit that it ignored. */
export function applyEdits(
  settings: LoopSettings,
  state: unknown,
): { readonly settings: LoopSettings; readonly ignored: readonly string[] } {
  if (!isObject(state)) return { settings, ignored: [] };
  let next = settings;
  const ignored: string[] = [];
  for (const name of v.keyof(loopSettings).options) {
    const value = name in state ? state[name] : null;
    const { success, output } = v.safeParse(loopSettings, { ...next, [name]: value });
    if (success) next = output;
    else
      ignored.push(`${name} cannot be ${JSON.stringify(value)}: it stays ${JSON.stringify(settings[name])}`);
  }
  return { settings: next, ignored };
}

/** Returns a loop that another program wrote, or whose record was damaged; `damaged` is the path of that one. */
export function recordFromState(
  value: unknown,
  name: string,
  damaged: string | undefined,
): LoopRecord | null {
  const { success, output: state } = v.safeParse(ralphState, value);
  if (!success) return null;
  const settings = v.parse(loopSettings, state);
  const startedAt = readStamp(state.started) ?? 0;
  const detail = 'its record was damaged, and its options are lost';
  return {
    ...newRecord(name, { settings, options: {}, held: false }, startedAt),
    status: state.status,
    iteration: state.current_iteration,
    ended: state.current_iteration,
    iterationStartedAt: readStamp(state.last_iteration_started),
    failures: state.consecutive_failures,
    totalFailures: state.total_failures,
    ...(damaged === undefined ? {} : { damaged }),
    // The lost options may have had checks: a person has to look.
    ...(damaged !== undefined && isOpen(state)
      ? { status: 'paused', why: { state: 'paused', since: startedAt, detail } }
      : {}),
  };
}
