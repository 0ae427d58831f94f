import { dirname } from 'node:path';
import * as v from 'valibot';
import { sha256 } from '../../os/crypto.ts';
import { ensureDir, readJsonAs, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';
import { trustPath } from '../paths.ts';

const entrySchema = v.object({
  digest: v.string(),
  powers: v.array(v.string()),
  /** True if the user made the file; false if the user trusts its maker. */
  own: v.boolean(),
});

/** What the user trusts in a folder, by file. */
const recordSchema = v.object({
  v: v.literal(1),
  path: v.string(),
  files: v.record(v.string(), entrySchema),
});
export type TrustedFiles = Readonly<v.InferOutput<typeof recordSchema>['files']>;

export function digestOf(powers: readonly string[]): string {
  return sha256(JSON.stringify([...powers].sort()));
}

/** Reads the record of a folder. A torn one trusts nothing. */
export function readTrust(env: Environment, folder: string): TrustedFiles {
  const record = readJsonAs(trustPath(env, folder), recordSchema);
  return record?.path === folder ? record.files : {};
}

export function writeTrust(env: Environment, folder: string, files: TrustedFiles): void {
  const path = trustPath(env, folder);
  ensureDir(dirname(path));
  writeAtomic(path, `${JSON.stringify({ v: 1, path: folder, files }, null, 2)}\n`);
}

export function removeTrust(env: Environment, folder: string): void {
  removeIfThere(trustPath(env, folder));
}
