import type { ChildProcess, Serializable, StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import type { EndCause } from '../../agents/turn.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type Deadlines, startDeadlines } from './deadlines.ts';
import { withDescent } from './descent.ts';
import { endProcesses } from './end-processes.ts';
import { collect, pipesEmpty } from './pipes.ts';
import { birthOf, findInListing, findInProc, type ProcessQuery, runMarks } from './process-table.ts';
import { followChildren } from './process-tree.ts';
import {
  type Environment,
  findProgram,
  outsideEnvironment,
  type StartCommand,
  shellCommand,
  windowsCommand,
} from './program.ts';

export { type Environment, findProgram, outsideEnvironment, shellCommand };

/** A program and its words; no shell reads them. */
export type Argv = readonly [string, ...string[]];

export type ProcessSpec = {
  readonly argv: Argv;
  readonly cwd: string;
  /** The whole environment; the marks of the run are added. */
  readonly env: Environment;
  readonly runId: string;
  readonly iteration?: number;
  /** Finds at the end also what has taken off the marks of the run, where the system allows that. */
  readonly traced?: boolean;
  /** Written and closed; null is an empty input. */
  readonly stdin: string | null;
  /** Longest silence between two `touch` calls. */
  readonly idleMs: number | null;
  readonly hardMs: number | null;
  /** From `finish` to the end of the tree. */
  readonly graceMs?: number;
  /** From TERM to KILL, in real time whatever `clock` is. */
  readonly termMs?: number;
  readonly clock?: Clock;
  /** Ends the tree when it aborts. */
  readonly stop?: AbortSignal;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
};

export type ProcessEnd = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly cause: EndCause;
  /** Why it did not start, or what an output handler threw; the tree is stopped then. */
  readonly error?: Error;
  /** What was still running after the main process and had to be ended. */
  readonly sweptPids: readonly number[];
};

export type RunningProcess = Omit<Deadlines, 'clear'> & {
  /** Null when it did not start. */
  readonly pid: number | null;
  /** Ends the tree now. */
  stop(): void;
  /** Never rejects. Resolves when nothing of the tree is left and all output was delivered. */
  readonly done: Promise<ProcessEnd>;
};

/** Starts a process in its own group, marked with the run, and sees to it that nothing of it stays behind. */
export function startProcess(spec: ProcessSpec): RunningProcess {
  const { graceMs = 5000, termMs = 3000, clock = systemClock, idleMs, hardMs, runId, iteration } = spec;
  let cause: EndCause = 'exited';
  let thrown: Error | undefined;
  let cancelKill: (() => void) | null = null;
  let exited = false;

  const guarded = (handler: (chunk: Buffer) => void) => (chunk: Buffer) => {
    try {
      if (thrown === undefined) handler(chunk);
    } catch (error) {
      thrown = error instanceof Error ? error : new Error(String(error));
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
  const { pid } = launched;
  if (pid === null) return notStarted(launched.exited);

  const query: ProcessQuery = {
    mark: { tree },
    group: pid,
    ...(spec.traced ? { descent: runId } : {}),
    ...(process.platform === 'linux' ? { since: birthOf(pid) } : {}),
  };
  const { clear, ...controls } = startDeadlines({ clock, idleMs, hardMs, graceMs, onDeadline: end });

  function end(why: EndCause): void {
    if (exited || cancelKill !== null) return;
    cause = why;
    clear();
    signalGroup(pid, 'SIGTERM');
    cancelKill = systemClock.timer(termMs, () => signalGroup(pid, 'SIGKILL'));
  }

  async function untilDone(): Promise<ProcessEnd> {
    const { exitCode, signal } = await launched.exited;
    exited = true;
    clear();
    cancelKill?.();
    const sweptPids = await endProcesses(() => findProcesses(query), termMs);
    await launched.drain();
    return { exitCode, signal, cause, sweptPids, ...(thrown === undefined ? {} : { error: thrown }) };
  }

  const stop = () => end('stopped');
  spec.stop?.addEventListener('abort', stop, { once: true });
  if (spec.stop?.aborted) stop();
  const done = untilDone().finally(() => spec.stop?.removeEventListener('abort', stop));
  return { ...controls, pid, stop, done };
}

/** Ends all that carries the run in its environment, and the iteration where one is given. */
export async function sweepRun(
  runId: string,
  options: {
    readonly iteration?: number;
    readonly except?: readonly number[];
    readonly termMs?: number;
    /** A process group that belongs to it too. */
    readonly group?: number;
    /** Also what they started, though it hides where it comes from; a look at all processes more. */
    readonly children?: boolean;
    /** It was started so that what has taken off its marks is found, too. */
    readonly traced?: boolean;
  } = {},
): Promise<number[]> {
  const { iteration, except = [], termMs = 3000, group, children = false, traced = false } = options;
  const mark = { runId, ...(iteration === undefined ? {} : { iteration }) };
  const query = {
    mark,
    ...(group === undefined ? {} : { group }),
    ...(traced ? { descent: runId } : {}),
  };
  const childrenOf = children ? followChildren(listWithPs) : () => [];
  const find = async () => {
    const found = await findProcesses(query);
    return [...new Set([...found, ...childrenOf(found)])].filter((pid) => !except.includes(pid));
  };
  return endProcesses(find, termMs);
}

export type CommandResult = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  /** True where output above `maxBytes` was thrown away. */
  readonly truncated: boolean;
  /** Why it did not start. */
  readonly error?: Error;
};

/** Runs a short command such as git to its end. Never rejects. */
export async function runCommand(
  argv: Argv,
  options: {
    readonly cwd: string;
    readonly env?: Environment;
    readonly stdin?: string;
    readonly timeoutMs?: number;
    /** For each of the two outputs. */
    readonly maxBytes?: number;
  },
): Promise<CommandResult> {
  const { cwd, env = process.env, stdin = null, timeoutMs = 30_000, maxBytes = 16 * 1024 * 1024 } = options;
  const stdout = collect(maxBytes);
  const stderr = collect(maxBytes);
  let timedOut = false;
  const launched = launch({ argv, cwd, env, stdin, onStdout: stdout.add, onStderr: stderr.add });
  const { pid } = launched;
  let cancel = systemClock.timer(timeoutMs, () => {
    timedOut = true;
    signalGroup(pid, 'SIGTERM');
    cancel = systemClock.timer(1000, () => signalGroup(pid, 'SIGKILL'));
  });
  const { exitCode, signal, error } = await launched.exited;
  cancel();
  if (timedOut) signalGroup(pid, 'SIGKILL');
  await launched.drain();
  return {
    exitCode,
    signal,
    stdout: stdout.text(),
    stderr: stderr.text(),
    timedOut,
    truncated: stdout.truncated() || stderr.truncated(),
    ...(error === undefined ? {} : { error }),
  };
}

/** A process that we talk to. */
export type Conversation = {
  say(text: string): void;
  /** No more is said; most programs end then. They see that too when we are killed. */
  close(): void;
  kill(): void;
  /** Never rejects. */
  readonly exited: Promise<Exit>;
};

/** Starts a process in its own group whose input stays open. */
export function converse(
  [program, ...args]: Argv,
  options: { readonly cwd: string; readonly env: Environment; readonly onStdout: (chunk: Buffer) => void },
): Conversation {
  const { cwd, env, onStdout } = options;
  const child = childProcess().spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdout.on('data', onStdout);
  for (const stream of [child.stdin, child.stdout]) stream.on('error', () => {});
  return {
    say: (text) => void child.stdin.write(text),
    close: () => void child.stdin.end(),
    kill: () => signalGroup(child.pid ?? null, 'SIGKILL'),
    exited: exitOf(child, { argv: [program], cwd }),
  };
}

/** Runs a command on our own terminal and pipes to its end, as a shell would. Never rejects. */
export async function runInForeground(
  argv: Argv,
  options: { readonly cwd: string; readonly env: Environment },
): Promise<Exit> {
  const [program, ...args] = argv;
  const child = childProcess().spawn(program, args, { ...options, stdio: 'inherit' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // A terminal sends its own to the child as well; what was sent to us alone has to be passed on.
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  try {
    return await exitOf(child, { argv, cwd: options.cwd });
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}

/** Starts a process that outlives us, with its output appended to files. Fails with what the system says. */
export function startDetached(
  [program, ...args]: Argv,
  options: {
    readonly cwd: string;
    readonly env: Environment;
    readonly stdout: string;
    readonly stderr: string;
  },
): Promise<number> {
  const outputs = [openSync(options.stdout, 'a', 0o600), openSync(options.stderr, 'a', 0o600)] as const;
  return new Promise<number>((resolve, reject) => {
    const child = childProcess().spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', ...outputs],
    });
    child.once('error', (error) => reject(failedStart({ argv: [program], cwd: options.cwd }, error).error));
    child.once('spawn', () => {
      child.unref();
      resolve(child.pid ?? 0);
    });
  }).finally(() => {
    for (const fd of outputs) closeSync(fd);
  });
}

/** Starts one of our programs with a message channel. In a group of its own: a Ctrl-C or a kill of our group leaves it to us. */
export function startChild(
  [program, ...args]: Argv,
  options: {
    readonly cwd: string;
    readonly env: Environment;
    onMessage(message: unknown): void;
    onStderr(text: string): void;
  },
) {
  const { cwd, env, onMessage, onStderr } = options;
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ipc'];
  const child = childProcess().spawn(program, args, { cwd, env, detached: true, windowsHide: true, stdio });
  child.on('message', onMessage);
  child.stderr?.setEncoding('utf8').on('data', onStderr);
  return {
    /** Dropped if the child is gone. */
    send(message: Serializable): void {
      if (child.connected) child.send(message, () => {});
    },
    kill: () => void child.kill('SIGKILL'),
    exited: exitOf(child, { argv: [program], cwd }),
  };
}

/** What `ps` prints, or null. For the systems without /proc; small and rare enough to wait for. */
export function listWithPs(args: readonly string[]): string | null {
  const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
  const options = { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024, timeout: 10_000 } as const;
  const { stdout, status } = childProcess().spawnSync('ps', args, options);
  return status === 0 ? stdout : null;
}

export type Exit = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
};

type Launched = {
  readonly pid: number | null;
  readonly exited: Promise<Exit>;
  /** Delivers what is in the pipes and closes them; to be called after the exit. */
  drain(): Promise<void>;
};

type LaunchSpec = Pick<ProcessSpec, 'argv' | 'cwd' | 'env' | 'stdin' | 'onStdout' | 'onStderr'>;

function launch(spec: LaunchSpec): Launched {
  let child: ChildProcess;
  try {
    child = spawnGroup(spec);
  } catch (error) {
    // E2BIG and a NUL in a word are thrown, ENOENT and EACCES come as an event.
    return { pid: null, exited: Promise.resolve(failedStart(spec, error)), drain: async () => {} };
  }
  const exited = exitOf(child, spec);
  // It has no pipes then when the files run out (EMFILE).
  if (child.pid === undefined) return { pid: null, exited, drain: async () => {} };
  let received = 0;
  let closed = false;
  const deliver = (handler: (chunk: Buffer) => void) => (chunk: Buffer) => {
    received += chunk.length;
    handler(chunk);
  };
  child.stdout?.on('data', deliver(spec.onStdout));
  child.stderr?.on('data', deliver(spec.onStderr));
  for (const stream of child.stdio) stream?.on('error', () => {});
  child.stdin?.end(spec.stdin);
  child.once('close', () => {
    closed = true;
  });
  const drain = async () => {
    await pipesEmpty(
      () => received,
      () => closed,
    );
    for (const stream of child.stdio) stream?.destroy();
  };
  return { pid: child.pid, exited, drain };
}

function exitOf(child: ChildProcess, spec: Pick<LaunchSpec, 'argv' | 'cwd'>): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    child.on('error', (error) => resolve(failedStart(spec, error)));
  });
}

function spawnGroup({ argv: [program, ...args], cwd, env, stdin }: LaunchSpec): ChildProcess {
  const windows = process.platform === 'win32';
  const command: StartCommand = windows
    ? windowsCommand(findProgram(program, env) ?? program, args)
    : { file: program, args, verbatim: false };
  return childProcess().spawn(command.file, command.args, {
    cwd,
    env,
    // A group of its own; on Windows it would be a console window instead.
    detached: !windows,
    windowsHide: true,
    windowsVerbatimArguments: command.verbatim,
    stdio: [stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
}

// Loaded at the first start and not before: a hook that only takes a lock must not pay for it (2 to 7 ms).
function childProcess() {
  return process.getBuiltinModule('node:child_process');
}

function failedStart({ argv: [program], cwd }: Pick<LaunchSpec, 'argv' | 'cwd'>, thrown: unknown): Exit {
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
  // The system says ENOENT of the program when it is the folder that is missing.
  const error = existsSync(cwd)
    ? cause
    : new Error(`${program} cannot start: ${cwd} does not exist`, { cause });
  return { exitCode: null, signal: null, error };
}

async function findProcesses(query: ProcessQuery): Promise<number[]> {
  if (process.platform === 'linux') return findInProc(query);
  if (process.platform === 'win32') return [];
  return findInListing(listWithPs(['-A', '-E', '-ww', '-o', 'pid=,ppid=,pgid=,stat=,command=']) ?? '', query);
}

/** The group may have gone in the meantime. Windows has no gentle way for a tree without a window. */
function signalGroup(group: number | null, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (group === null) return;
  if (process.platform === 'win32') {
    const killer = childProcess().spawn('taskkill', ['/pid', `${group}`, '/T', '/F'], { stdio: 'ignore' });
    killer.on('error', () => {});
    return;
  }
  try {
    process.kill(-group, signal);
  } catch {}
}

function notStarted(exited: Promise<Exit>): RunningProcess {
  const nothing = () => {};
  return {
    pid: null,
    touch: nothing,
    pauseIdle: nothing,
    resumeIdle: nothing,
    finish: nothing,
    reopen: nothing,
    stop: nothing,
    done: exited.then((end) => ({ ...end, cause: 'not-started', sweptPids: [] })),
  };
}
