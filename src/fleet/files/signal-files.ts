import * as v from 'valibot';
import { quoteWord } from '../../core/words.ts';
import { ensureDir, readJsonAs, readText, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import { withoutMarks } from '../../os/process/process-table.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths, signalPaths } from './paths.ts';
import type { Worker } from './workers.ts';

/** Returns the number of the last start in the worker's window; null if there was none. */
export function lastStart(env: Environment, name: string): number | null {
  const [launch] = numbersIn(signalPaths(env, name).started);
  return launch ?? null;
}

/** Returns the last end in the worker's window: the number of its start, and the agent's exit code. */
export function lastExit(env: Environment, name: string): { launch: number; exitCode: number } | null {
  const [launch, exitCode] = numbersIn(signalPaths(env, name).ended);
  return launch === undefined || exitCode === undefined ? null : { launch, exitCode };
}

/** Tells the supervisor that a command changed the loop. */
export function signalChange(env: Environment, name: string): void {
  writeAtomic(signalPaths(env, name).changed, '', { fsync: false });
}

export function ensureSignals(env: Environment): void {
  ensureDir(fleetPaths(env).signals);
}

export function removeSignals(env: Environment, name: string): void {
  const { started, ended, changed, start } = signalPaths(env, name);
  for (const path of [started, ended, changed, start]) removeIfThere(path);
}

/** Writes a shell file that exports the variables, and puts the words of a command before those of the shell. */
export function writeStart(
  env: Environment,
  name: string,
  variables: Readonly<Record<string, string>>,
  words: readonly string[],
): string {
  const { start } = signalPaths(env, name);
  const exports = Object.entries(variables)
    .filter(([variable]) => isShellName(variable))
    .map(([variable, value]) => `export ${variable}=${quoteWord(value)}\n`);
  ensureSignals(env);
  writeAtomic(start, `${exports.join('')}set -- ${words.map(quoteWord).join(' ')} "$@"\n`, { fsync: false });
  return start;
}

/** True if a shell can export a variable of this name. */
export function isShellName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

function numbersIn(path: string): number[] {
  const words = (readText(path) ?? '').trim().split(' ');
  return words.every((word) => /^\d+$/.test(word)) ? words.map(Number) : [];
}

/** Variables of the terminal, the shell or the agent session that spawns a worker; the worker has its own. */
const ofSpawner =
  /^(?:TERM(?:_.*)?|COLORTERM|COLUMNS|LINES|TMUX(?:_.*)?|STY|WINDOWID|PWD|OLDPWD|SHLVL|_|IFS|PS[1-4]|SHELLOPTS|BASHOPTS|UID|EUID|PPID|SWARM_WORKER|CLAUDECODE|CLAUDE_CODE_(?:SESSION_ID|ENTRYPOINT|SSE_PORT))$/;

/** Keeps the environment of a spawn for all starts of its worker. */
export function keepEnvironment(env: Environment, name: string): void {
  ensureSignals(env);
  writeAtomic(signalPaths(env, name).environment, `${JSON.stringify(inheritable(env))}\n`);
}

/** Returns the environment of a worker: that of its spawn, with the variables that the spawn named. */
export function workerEnvironment(
  env: Environment,
  { name, env: variables }: Pick<Worker, 'name' | 'env'>,
): Record<string, string> {
  const spawnEnvironment = readJsonAs(signalPaths(env, name).environment, v.record(v.string(), v.string()));
  return { ...(spawnEnvironment ?? inheritable(env)), ...variables };
}

function inheritable(env: Environment): Record<string, string> {
  const entries = Object.entries(withoutMarks(env)).filter(([name]) => !ofSpawner.test(name));
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
