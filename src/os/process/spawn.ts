import type { ChildProcess, Serializable, StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { attempt } from '../attempt.ts';
import { type Environment, findProgram, type StartCommand, windowsCommand } from './program.ts';

/** A program and its arguments; no shell reads them. */
export type Argv = readonly [string, ...string[]];

export type Exit = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it did not start. */
  readonly error?: Error;
};

type Launched = {
  /** Null if it did not start. */
  readonly pid: number | null;
  readonly exited: Promise<Exit>;
  /** Delivers what is left in the pipes and closes them. Call it after the exit. */
  drain(): Promise<void>;
  readonly input: ProcessInput;
};

/** Standard input that stays open. What a process that is gone would get is dropped. */
export type ProcessInput = { write(text: string): void; close(): void };

/** Parts of a process that did not start. */
const notStarted = { pid: null, drain: async () => {}, input: { write: () => {}, close: () => {} } };

export type LaunchSpec = {
  readonly argv: Argv;
  readonly cwd: string;
  readonly env: Environment;
  /** Written and closed; null is an empty input. */
  readonly stdin: string | Buffer | null;
  /** Leaves standard input open after that. */
  readonly keepsInput?: boolean;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
};

/** Starts a process in its own group. Never throws. */
export function launch(spec: LaunchSpec): Launched {
  let child: ChildProcess;
  try {
    child = spawnGroup(spec);
  } catch (error) {
    // E2BIG and a NUL in an argument are thrown, ENOENT and EACCES come as an event.
    return { ...notStarted, exited: Promise.resolve(failedStart(spec, error)) };
  }
  const exited = exitOf(child, spec);
  // Without a pid it has no pipes either: the process is out of files (EMFILE).
  if (child.pid === undefined) return { ...notStarted, exited };
  let received = 0;
  let isClosed = false;
  const deliver = (handler: (chunk: Buffer) => void) => (chunk: Buffer) => {
    received += chunk.length;
    handler(chunk);
  };
  child.stdout?.on('data', deliver(spec.onStdout));
  child.stderr?.on('data', deliver(spec.onStderr));
  for (const stream of child.stdio) stream?.on('error', () => {});
  if (spec.keepsInput) child.stdin?.write(spec.stdin ?? '');
  else child.stdin?.end(spec.stdin);
  child.once('close', () => {
    isClosed = true;
  });
  const drain = async () => {
    await pipesEmpty(() => ({ received, isClosed }));
    for (const stream of child.stdio) stream?.destroy();
  };
  const input = {
    write: (text: string) => void (child.stdin?.writable && child.stdin.write(text)),
    close: () => void child.stdin?.end(),
  };
  return { pid: child.pid, exited, drain, input };
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

/** Signals a process group, which may be gone. Windows has no gentle way to end a tree without a window. */
export function signalGroup(group: number | null, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (group === null) return;
  if (process.platform === 'win32') {
    const killer = childProcess().spawn('taskkill', ['/pid', `${group}`, '/T', '/F'], { stdio: 'ignore' });
    killer.on('error', () => {});
    return;
  }
  attempt(() => process.kill(-group, signal), false);
}

/** Runs a command on our own terminal and pipes to its end, as a shell would. Never rejects. */
export async function runInForeground(argv: Argv, options: Pick<LaunchSpec, 'cwd' | 'env'>): Promise<Exit> {
  const [program, ...args] = argv;
  const child = childProcess().spawn(program, args, { ...options, stdio: 'inherit' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // A terminal sends its signals to the child as well; one that was sent to us alone has to be passed on.
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of signals) process.on(signal, pass);
  try {
    return await exitOf(child, { argv, cwd: options.cwd });
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}

/** Starts a process that outlives us, with its output appended to files. Rejects if it does not start. */
export function startDetached(
  [program, ...args]: Argv,
  options: Pick<LaunchSpec, 'cwd' | 'env'> & { readonly stdout: string; readonly stderr: string },
): Promise<number> {
  const { cwd, env, stdout, stderr } = options;
  const outputs = [openSync(stdout, 'a', 0o600), openSync(stderr, 'a', 0o600)] as const;
  return new Promise<number>((resolve, reject) => {
    const stdio: StdioOptions = ['ignore', ...outputs];
    const child = childProcess().spawn(program, args, { cwd, env, detached: true, windowsHide: true, stdio });
    child.once('error', (error) => reject(failedStart({ argv: [program], cwd }, error).error));
    child.once('spawn', () => {
      child.unref();
      resolve(child.pid ?? 0);
    });
  }).finally(() => {
    for (const fd of outputs) closeSync(fd);
  });
}

/** Starts one of our programs with a message channel, in a group that a Ctrl-C or a kill of our group does not reach. */
export function startChild(
  [program, ...args]: Argv,
  options: Pick<LaunchSpec, 'cwd' | 'env'> & {
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
    /** Drops the message if the child is gone. */
    send(message: Serializable): void {
      if (child.connected) child.send(message, () => {});
    },
    kill: () => void child.kill('SIGKILL'),
    exited: exitOf(child, { argv: [program], cwd }),
  };
}

/** Returns what `ps` prints, or null. For systems without /proc; short and rare enough to wait for. */
export function listWithPs(args: readonly string[]): string | null {
  const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
  const options = { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024, timeout: 10_000 } as const;
  const { stdout, status } = childProcess().spawnSync('ps', args, options);
  return status === 0 ? stdout : null;
}

function exitOf(child: ChildProcess, spec: Pick<LaunchSpec, 'argv' | 'cwd'>): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    child.on('error', (error) => resolve(failedStart(spec, error)));
  });
}

function failedStart({ argv: [program], cwd }: Pick<LaunchSpec, 'argv' | 'cwd'>, reason: unknown): Exit {
  const cause = reason instanceof Error ? reason : new Error(String(reason));
  // The system says ENOENT of the program when it is the folder that is missing.
  const error = existsSync(cwd)
    ? cause
    : new Error(`${program} cannot start: ${cwd} does not exist`, { cause });
  return { exitCode: null, signal: null, error };
}

// More than a pipe or a socket pair holds on any of our platforms.
const pipeBytes = 16 * 1024 * 1024;

/**
 * Resolves when the pipes are closed, or, if a process outside the tree keeps them open, when two turns of the event
 * loop brought nothing. Reads no more of such a process than the pipes can have held.
 */
function pipesEmpty(state: () => { received: number; isClosed: boolean }): Promise<void> {
  const first = state().received;
  let last = first;
  let quietTurns = 0;
  return new Promise((resolve) => {
    const look = () => {
      const { received, isClosed } = state();
      quietTurns = received === last ? quietTurns + 1 : 0;
      last = received;
      if (isClosed || quietTurns === 2 || last - first > pipeBytes) return resolve();
      setImmediate(look);
    };
    setImmediate(look);
  });
}

/** Loads the module at the first start: a hook that only takes a lock must not pay for it (2 to 7 ms). */
function childProcess() {
  return process.getBuiltinModule('node:child_process');
}
