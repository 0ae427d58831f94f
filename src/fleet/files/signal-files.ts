import { quoteWord } from '../../core/words.ts';
import { ensureDir, readText, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths, signalPaths } from './paths.ts';

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
  const { started, ended, changed, words } = signalPaths(env, name);
  for (const path of [started, ended, changed, words]) removeIfThere(path);
}

/** Writes the words of a command that is too long for a call; a shell that reads the file gets them before its own. */
export function writeWords(env: Environment, name: string, words: readonly string[]): string {
  const { words: path } = signalPaths(env, name);
  ensureSignals(env);
  const quoted = words.map(quoteWord);
  writeAtomic(path, `set -- ${quoted.join(' ')} "$@"\n`, { fsync: false });
  return path;
}

function numbersIn(path: string): number[] {
  const words = (readText(path) ?? '').trim().split(' ');
  return words.every((word) => /^\d+$/.test(word)) ? words.map(Number) : [];
}
