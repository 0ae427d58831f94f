import { join } from 'node:path';
import * as v from 'valibot';
import {
  ensureDir,
  listDir,
  lstatOf,
  readJsonAs,
  removeIfThere,
  setAside,
  writeAtomic,
} from '../../os/files/files.ts';
import { removeFolder } from '../../os/files/new-folder.ts';
import { isAlive, processIdentity, processIdentitySchema } from '../../os/process/process-identity.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths } from './paths.ts';
import { worktreePlace } from './workers.ts';

/** Intent to make a worktree: written before the first step, removed once a worker has it or it is undone. */
const intentSchema = v.object({
  name: v.string(),
  place: worktreePlace,
  /** The branch is new, and begins at this commit. */
  newBranchAt: v.nullable(v.string()),
  /** Process that makes it. */
  maker: processIdentitySchema,
});
export type WorktreeIntent = Readonly<v.InferOutput<typeof intentSchema>>;

export function writeIntent(env: Environment, order: Omit<WorktreeIntent, 'maker'>): WorktreeIntent {
  const maker = processIdentity(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  const intent = { ...order, maker };
  ensureDir(folder(env));
  writeAtomic(pathOf(env, intent), `${JSON.stringify(intent)}\n`);
  return intent;
}

export function removeIntent(env: Environment, intent: WorktreeIntent): void {
  removeIfThere(pathOf(env, intent));
}

export function isEmptyFolder(path: string): boolean {
  return lstatOf(path)?.isDirectory() === true && listDir(path).length === 0;
}

/** Removes a folder in which git has made nothing but its own file; false if there is more. */
export function removeBareFolder(path: string): boolean {
  const inside = listDir(path);
  if (inside.some((name) => name !== '.git')) return false;
  removeFolder(path);
  return true;
}

/** Returns intents whose maker is gone. */
export function abandonedIntents(env: Environment): WorktreeIntent[] {
  const files = listDir(folder(env)).filter((name) => name.endsWith('.json'));
  return files.flatMap((file) => {
    const path = join(folder(env), file);
    const intent = readJsonAs(path, intentSchema);
    if (intent !== null) return isAlive(intent.maker) ? [] : [intent];
    setAside(path);
    return [];
  });
}

function folder(env: Environment): string {
  return join(fleetPaths(env).root, 'worktrees');
}

/** Returns the path of an intent. Two processes that make the same worktree have a file each. */
function pathOf(env: Environment, { name, maker }: WorktreeIntent): string {
  return join(folder(env), `${encodeURIComponent(name)}.${maker.pid}.json`);
}
