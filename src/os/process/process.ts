import type { EndCause } from '../../agents/turn.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type Deadlines, startDeadlines } from './deadlines.ts';
import { withDescent } from './descent.ts';
import { endProcesses } from './end-processes.ts';
import { collect } from './pipes.ts';
import { birthOf, findProcesses, type ProcessQuery, runMarks } from './process-table.ts';
import { followChildren } from './process-tree.ts';
import { type Environment, findProgram, outsideEnvironment, shellCommand } from './program.ts';
import { type Argv, type Exit, type LaunchSpec, launch, type ProcessInput, signalGroup } from './spawn.ts';

export { type Argv, type Environment, findProgram, outsideEnvironment, shellCommand };

/** How to start a process of a run. `env` is the whole environment; the marks of the run are added. */
export type ProcessSpec = LaunchSpec & {
  readonly runId: string;
  readonly iteration?: number;
  /** Finds at the end also processes that removed the marks of the run, where the system allows that. */
  readonly traced?: boolean;
  /** Longest silence between two `touch` calls. */
  readonly idleMs: number | null;
  readonly hardMs: number | null;
  /** From `finish` to the end of the tree. */
  readonly graceMs?: number;
  /** From TERM to KILL, in real time whatever `clock` is. */
  readonly termMs?: number;
  /** Asks it to stop, a second before TERM; not after `finish`. */
  readonly askToStop?: () => void;
  readonly clock?: Clock;
  readonly stop?: AbortSignal;
};

/** `error` may also be what an output handler threw; the tree is stopped then. */
export type ProcessEnd = Exit & {
  readonly cause: EndCause;
  /** Processes that outlived the main one and were ended. */
  readonly sweptPids: readonly number[];
};

export type RunningProcess = Omit<Deadlines, 'clear'> & {
  /** Null if it did not start. */
  readonly pid: number | null;
  stop(): void;
  readonly input: ProcessInput;
  /** Never rejects. Resolves when no process of the tree is left and all output was delivered. */
  readonly done: Promise<ProcessEnd>;
};

// From the question to stop to TERM.
const askMs = 1000;

/** Starts a process in its own group, marked with the run, and ends its whole tree with it. */
export function startProcess(spec: ProcessSpec): RunningProcess {
  const { graceMs = 5000, termMs = 3000, clock = systemClock, idleMs, hardMs, runId, iteration } = spec;
  let cause: EndCause = 'exited';
  let failure: Error | undefined;
  let cancelKill: (() => void) | null = null;
  let exited = false;

  const guarded = (handler: (chunk: Buffer) => void) => (chunk: Buffer) => {
    try {
      if (failure === undefined) handler(chunk);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      end('stopped');
    }
  };
  const { tree, variables } = runMarks(spec.env, runId, iteration);
  const launched = launch({
    ...spec,
    argv: spec.traced ? withDescent(spec.argv, runId) : spec.argv,
    env: { ...spec.env, ...variables },
    onStdout: guarded(spec.onStdout),
    onStderr: guarded(spec.onStderr),
  });
  const { pid, input } = launched;
  const { clear, ...controls } = startDeadlines({ clock, idleMs, hardMs, graceMs, onDeadline: end });
  if (pid === null) {
    clear();
    const done = launched.exited.then((exit) => ({ ...exit, cause: 'not-started', sweptPids: [] }) as const);
    return { ...controls, pid, stop: () => {}, input, done };
  }

  const query = queryOf(pid, tree, spec);

  function end(why: EndCause): void {
    if (exited || cancelKill !== null) return;
    cause = why;
    clear();
    const terminate = () => {
      cancelKill = endGroup(pid, termMs);
    };
    if (spec.askToStop === undefined || why === 'finished') terminate();
    else cancelKill = ask(spec.askToStop, terminate);
  }

  async function untilDone(): Promise<ProcessEnd> {
    const { exitCode, signal } = await launched.exited;
    exited = true;
    clear();
    cancelKill?.();
    const sweptPids = await endProcesses(() => findProcesses(query), termMs);
    await launched.drain();
    return { exitCode, signal, cause, sweptPids, ...(failure === undefined ? {} : { error: failure }) };
  }

  const stop = () => end('stopped');
  spec.stop?.addEventListener('abort', stop, { once: true });
  if (spec.stop?.aborted) stop();
  const done = untilDone().finally(() => spec.stop?.removeEventListener('abort', stop));
  return { ...controls, pid, stop, input, done };
}

/** Asks first; returns the function that cancels what follows. */
function ask(question: () => void, then: () => void): () => void {
  question();
  return systemClock.timer(askMs, then);
}

/** Ends a process group by TERM, then KILL; returns the function that cancels the KILL. */
function endGroup(pid: number | null, termMs: number): () => void {
  signalGroup(pid, 'SIGTERM');
  return systemClock.timer(termMs, () => signalGroup(pid, 'SIGKILL'));
}

function queryOf(group: number, tree: string, { traced, runId }: ProcessSpec): ProcessQuery {
  const since = process.platform === 'linux' ? birthOf(group) : undefined;
  return { mark: { tree }, group, descent: traced ? runId : undefined, since };
}

/** Ends every process that has the run, and the iteration if one is given, in its environment. Returns their pids. */
export async function sweepRun(
  runId: string,
  options: {
    readonly iteration?: number;
    readonly except?: readonly number[];
    readonly termMs?: number;
    /** A process group that belongs to the run, too. */
    readonly group?: number;
    /** Also their children, which may hide where they come from; lists all processes once more. */
    readonly children?: boolean;
    readonly traced?: boolean;
  } = {},
): Promise<number[]> {
  const { iteration, except = [], termMs = 3000, group, children = false, traced = false } = options;
  const query = { mark: { runId, iteration }, group, descent: traced ? runId : undefined };
  const childrenOf = children ? followChildren() : () => [];
  const find = () => {
    const pids = findProcesses(query);
    return [...new Set([...pids, ...childrenOf(pids)])].filter((pid) => !except.includes(pid));
  };
  return endProcesses(find, termMs);
}

export type CommandResult = Exit & {
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly truncated: boolean;
};

/** Time that is left to a command that starts after the stop. */
const afterStopMs = 5000;
let stopOfAll: AbortSignal | undefined;

/** Ends the short commands of this process, such as git, when the signal aborts; later ones have five seconds. */
export function endCommandsOn(signal: AbortSignal | undefined): void {
  stopOfAll = signal;
}

/** Runs a short command such as git to its end. Never rejects. */
export async function runCommand(
  argv: Argv,
  options: {
    readonly cwd: string;
    readonly env?: Environment;
    readonly stdin?: string | Buffer | undefined;
    readonly timeoutMs?: number;
    /** For each of the two outputs. */
    readonly maxBytes?: number;
    /** Ends it when it aborts; without one, see `endCommandsOn`. */
    readonly stop?: AbortSignal | undefined;
  },
): Promise<CommandResult> {
  const { cwd, env = process.env, stdin = null, stop = stopOfAll } = options;
  const { timeoutMs = 30_000, maxBytes = 16 * 1024 * 1024 } = options;
  const stdout = collect(maxBytes);
  const stderr = collect(maxBytes);
  let timedOut = false;
  const launched = launch({ argv, cwd, env, stdin, onStdout: stdout.add, onStderr: stderr.add });
  const { pid } = launched;
  const expire = () => {
    cancel();
    timedOut = true;
    signalGroup(pid, 'SIGTERM');
    cancel = systemClock.timer(1000, () => signalGroup(pid, 'SIGKILL'));
  };
  let cancel = systemClock.timer(stop?.aborted ? Math.min(timeoutMs, afterStopMs) : timeoutMs, expire);
  stop?.addEventListener('abort', expire, { once: true });
  const exit = await launched.exited;
  stop?.removeEventListener('abort', expire);
  cancel();
  if (timedOut) signalGroup(pid, 'SIGKILL');
  await launched.drain();
  const truncated = stdout.truncated() || stderr.truncated();
  return { ...exit, stdout: stdout.text(), stderr: stderr.text(), timedOut, truncated };
}
