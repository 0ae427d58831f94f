import { rmSync, writeFileSync } from 'node:fs';
import { quoteWord } from '../core/words.ts';
import { ensureDir, readText, writeAtomic } from '../system/files.ts';
import type { Environment } from '../system/program.ts';
import { fleetPaths, markPaths } from './fleet-paths.ts';

/** The last start in the worker's window, by its number; null where there was none. */
export function startedMark(env: Environment, name: string): number | null {
  const [launch] = numbersIn(markPaths(env, name).started);
  return launch ?? null;
}

/** The last end in the worker's window: which start it was, and the agent's exit code. */
export function endedMark(env: Environment, name: string): { launch: number; exitCode: number } | null {
  const [launch, exitCode] = numbersIn(markPaths(env, name).ended);
  return launch === undefined || exitCode === undefined ? null : { launch, exitCode };
}

/** Tells the supervisor that a command changed the loop. */
export function markChanged(env: Environment, name: string): void {
  writeFileSync(markPaths(env, name).changed, '');
}

export function ensureMarks(env: Environment): void {
  ensureDir(fleetPaths(env).marks);
}

export function removeMarks(env: Environment, name: string): void {
  const { started, ended, changed, words } = markPaths(env, name);
  for (const path of [started, ended, changed, words]) rmSync(path, { force: true });
}

/** Leaves the words of a command that is too long for a call: a shell that reads the file has them before its own. */
export function writeWords(env: Environment, name: string, words: readonly string[]): string {
  const { words: path } = markPaths(env, name);
  ensureMarks(env);
  const quoted = words.map(quoteWord);
  writeAtomic(path, `set -- ${quoted.join(' ')} "$@"\n`, { fsync: false });
  return path;
}

function numbersIn(path: string): number[] {
  const words = (readText(path) ?? '').trim().split(' ');
  return words.every((word) => /^\d+$/.test(word)) ? words.map(Number) : [];
}
