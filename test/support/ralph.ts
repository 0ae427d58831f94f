import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { actingUser, handOver } from './who.ts';

export type RunOptions = {
  readonly cwd: string;
  /** Added to our own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Goes before the rest of PATH. */
  readonly bin?: string;
  /** Standard input; without it the command finds an empty one. */
  readonly input?: string;
  /** Which of the built commands; `ralph` if not given. */
  readonly program?: 'ralph' | 'swarm';
  /** Words before the command: a program that runs it, elsewhere or otherwise. */
  readonly through?: readonly string[];
  onSpawn?(child: ChildProcess): void;
};

export type RunResult = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type RunningRalph = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it printed so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  readonly done: Promise<RunResult>;
};

/** Runs the built command to its end. */
export function runRalph(args: readonly string[], options: RunOptions): Promise<RunResult> {
  return startRalph(args, options).done;
}

/** Starts the built command, for tests that send signals or look while it runs. It cannot outlive the test. */
export function startRalph(args: readonly string[], options: RunOptions): RunningRalph {
  const command = [process.execPath, builtProgram(options.program ?? 'ralph'), ...args];
  const actor = handOver(dirname(options.cwd));
  const [first = '', ...words] = [...actor.through, ...(options.through ?? []), ...command];
  const child = spawn(first, words, {
    cwd: options.cwd,
    env: { ...environment(options), ...actor.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { pid } = child;
  const done = ended(child);
  const output = collect(child);
  if (pid === undefined) {
    done.catch(() => {});
    throw new Error(`could not start in ${options.cwd}: is the folder there?`);
  }
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
  child.stdin.on('error', () => {}); // A command that ends without reading its input is no failure.
  child.stdin.end(options.input ?? '');
  options.onSpawn?.(child);
  return { child, pid, output, done: done.then((end) => ({ ...end, ...output })) };
}

/** The built command as a file. */
export function builtProgram(name: 'ralph' | 'swarm'): string {
  const path = join(actingUser() === null ? dist : readableDist(), `${name}.cjs`);
  if (!existsSync(path)) throw new Error(`${path} is missing: run \`npm run build\``);
  return path;
}

/** The folder of the built commands. */
export const dist = fileURLToPath(new URL('../../dist', import.meta.url));
let copy: string | null = null;

/** The built commands where everybody can read them. */
export function readableDist(): string {
  if (copy !== null) return copy;
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'dist-'));
  copy = join(folder, 'dist');
  cpSync(dist, copy, { recursive: true });
  for (const path of [realpathSync(tmpdir()), folder]) chmodSync(path, 0o755);
  return copy;
}

function environment({ env, bin }: RunOptions): NodeJS.ProcessEnv {
  const merged = { ...process.env, ...env };
  return bin === undefined ? merged : { ...merged, PATH: `${bin}${delimiter}${merged.PATH ?? ''}` };
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  return output;
}

function ended(child: ChildProcess): Promise<Pick<RunResult, 'code' | 'signal'>> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}
