import { dirname, join } from 'node:path';
import * as v from 'valibot';
import type { FileChange } from '../system/file-changes.ts';
import { ensureDir, readJsonAs, writeAtomic } from '../system/files.ts';
import type { Environment } from '../system/program.ts';
import { stateFolder } from './paths.ts';

/** What an installation made of a file, so that it can be undone to the byte. */
export type Installed = Pick<FileChange, 'before' | 'after'>;

const content = v.nullable(v.string());
const installedSchema = v.record(v.string(), v.object({ before: content, after: content }));

/** The files that installations have changed, by their paths. */
export function readInstalled(env: Environment): ReadonlyMap<string, Installed> {
  return new Map(Object.entries(readJsonAs(recordFile(env), installedSchema) ?? {}));
}

export function writeInstalled(env: Environment, installed: ReadonlyMap<string, Installed>): void {
  const file = recordFile(env);
  ensureDir(dirname(file));
  writeAtomic(file, `${JSON.stringify(Object.fromEntries(installed), null, 2)}\n`);
}

function recordFile(env: Environment): string {
  return join(stateFolder(env), 'installed.json');
}
