import { dirname, join } from 'node:path';
import { isObject } from '../core/shape.ts';
import type { FileChange } from '../system/file-changes.ts';
import { ensureDir, readJson, writeAtomic } from '../system/files.ts';
import type { Environment } from '../system/program.ts';
import { stateFolder } from './paths.ts';

/** What an installation made of a file, so that it can be undone to the byte. */
export type Installed = Pick<FileChange, 'before' | 'after'>;

/** The files that installations have changed, by their paths. */
export function readInstalled(env: Environment): ReadonlyMap<string, Installed> {
  const read = readJson(recordFile(env));
  const entries = read.ok && isObject(read.value) ? Object.entries(read.value) : [];
  return new Map(entries.flatMap(([path, value]) => (isInstalled(value) ? [[path, value]] : [])));
}

export function writeInstalled(env: Environment, installed: ReadonlyMap<string, Installed>): void {
  const file = recordFile(env);
  ensureDir(dirname(file));
  writeAtomic(file, `${JSON.stringify(Object.fromEntries(installed), null, 2)}\n`);
}

function recordFile(env: Environment): string {
  return join(stateFolder(env), 'installed.json');
}

function isInstalled(value: unknown): value is Installed {
  return (
    isObject(value) && [value.before, value.after].every((text) => text === null || typeof text === 'string')
  );
}
