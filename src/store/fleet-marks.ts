import { rmSync, writeFileSync } from 'node:fs';
import { ensureDir, readText } from '../system/files.ts';
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
  const { started, ended, changed } = markPaths(env, name);
  for (const path of [started, ended, changed]) rmSync(path, { force: true });
}

function numbersIn(path: string): number[] {
  const words = (readText(path) ?? '').trim().split(' ');
  return words.every((word) => /^\d+$/.test(word)) ? words.map(Number) : [];
}
