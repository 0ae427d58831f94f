import { isObject } from '../core/json.ts';
import { type Outcome, outcomes } from '../core/outcome.ts';
import { readStamp, stamp } from './fleet-time.ts';
import type { RecordedReason } from './loop-schemas.ts';

export type LoopStatus = 'running' | 'paused' | 'stopped' | 'failed';

/**
 * How a loop ended. `exitCode` is that of `ralph run` for the outcome; 0 also for a loop that had nothing to reach and
 * used up its iterations.
 */
export type LoopEnd = {
  readonly outcome: Outcome;
  readonly because: RecordedReason;
  readonly exitCode: number;
};

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
  | 'unfinished'
  | 'failed'
  | 'window-lost'
  | 'stopped';

/** `since` and `until` are epoch milliseconds. */
export type Why = {
  readonly state: WhyState;
  readonly since: number;
  readonly detail?: string;
  readonly until?: number;
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
  /** End the agent at the first match of the done pattern; otherwise it is looked for when the iteration has ended. */
  readonly checkDoneContinuous?: boolean;
  /** Loops of one account wait together at a usage limit. */
  readonly account?: string;
  /** Options of `ralph run`: each iteration is one of `ralph run`, with all that it checks. */
  readonly run?: readonly string[];
  /** The program that does it, and the id of its run. */
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
  /** Null while it has not ended, and of a loop whose end was written by another program. */
  readonly end: LoopEnd | null;
  readonly settings: LoopSettings;
  readonly options: LoopOptions;
  /** The last event in the journal of its run that was booked. */
  readonly runSeq?: number;
  /** Lines of `iterations.log` that the last step brought: after a crash, what is missing is added. */
  readonly lines: readonly string[];
};

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

/** The settings with what somebody edited in `state.json`; what cannot be meant is ignored, and said. */
export function edited(
  settings: LoopSettings,
  state: unknown,
): { readonly settings: LoopSettings; readonly ignored: readonly string[] } {
  if (!isObject(state)) return { settings, ignored: [] };
  const names = ['prompt_file', 'max_iterations', 'done_pattern', 'inactivity_timeout'] as const;
  let next = settings;
  const ignored: string[] = [];
  for (const name of names) {
    const value = name in state ? state[name] : null;
    const tried = settingsIn({ ...next, [name]: value });
    if (tried !== null) next = tried;
    else
      ignored.push(`${name} cannot be ${JSON.stringify(value)}: it stays ${JSON.stringify(settings[name])}`);
  }
  return { settings: next, ignored };
}

/** Null where it cannot be meant. */
function settingsIn(value: unknown): LoopSettings | null {
  if (!isObject(value)) return null;
  const { prompt_file, max_iterations, inactivity_timeout, done_pattern = null } = value;
  if (typeof prompt_file !== 'string' || !isCount(max_iterations)) return null;
  if (!isCount(inactivity_timeout) || inactivity_timeout === 0) return null;
  if (done_pattern !== null && typeof done_pattern !== 'string') return null;
  return { prompt_file, max_iterations, inactivity_timeout, done_pattern };
}

/** A loop that another program wrote, or whose record was lost. */
export function recordFromState(
  value: unknown,
  name: string,
  options: LoopOptions | null,
): LoopRecord | null {
  const settings = settingsIn(value);
  if (settings === null || !isObject(value)) return null;
  const { current_iteration: iteration, started, last_iteration_started: last } = value;
  const { consecutive_failures: failures, total_failures: totalFailures } = value;
  const startedAt = typeof started === 'string' ? (readStamp(started) ?? 0) : 0;
  const status = isStatus(value.status) ? value.status : 'stopped';
  const isLost = options === null && (status === 'running' || status === 'paused');
  return {
    v: 1,
    name,
    // It may have been one that is checked: a person has to look at it.
    status: isLost ? 'paused' : status,
    iteration: isCount(iteration) ? iteration : 0,
    ended: isCount(iteration) ? iteration : 0,
    launch: 0,
    startedAt,
    iterationStartedAt: typeof last === 'string' ? readStamp(last) : null,
    failures: isCount(failures) ? failures : 0,
    totalFailures: isCount(totalFailures) ? totalFailures : 0,
    waitUntil: null,
    held: false,
    why: isLost
      ? { state: 'paused', since: startedAt, detail: 'its record was damaged, and its options are lost' }
      : { state: 'queued', since: startedAt },
    end: null,
    settings,
    options: options ?? {},
    lines: [],
  };
}

/** The end in a record; null in one that was written before ends were kept. */
export function endIn({ end }: { readonly end?: unknown }): LoopEnd | null {
  return isEnd(end) ? end : null;
}

function isEnd(value: unknown): value is LoopEnd {
  if (!isObject(value) || !isObject(value.because) || !isCount(value.exitCode)) return false;
  return typeof value.outcome === 'string' && Object.hasOwn(outcomes, value.outcome);
}

export function isRecord(value: unknown, name: string): value is LoopRecord {
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
