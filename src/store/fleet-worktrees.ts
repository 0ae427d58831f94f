import * as fs from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { ensureDir, readJsonAs, removeIfThere, setAside, writeAtomic } from '../system/files.ts';
import { isAlive, processIdentity, processIdentitySchema } from '../system/process-identity.ts';
import type { Environment } from '../system/program.ts';
import { fleetPaths } from './fleet-paths.ts';
import { worktreePlace } from './fleet-workers.ts';

/** A worktree that is being made: written before the first step, gone when a worker has it or nothing is left of it. */
const intentSchema = v.object({
  name: v.string(),
  place: worktreePlace,
  /** The branch is new, and begins at this commit. */
  newBranchAt: v.nullable(v.string()),
  /** Who makes it. */
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
  return fs.lstatSync(path).isDirectory() && namesIn(path).length === 0;
}

/** Removes a folder in which git has made nothing but its own mark; false where there is more. */
export function removeBareFolder(path: string): boolean {
  const inside = namesIn(path);
  if (inside.some((name) => name !== '.git')) return false;
  fs.rmSync(path, { recursive: true, force: true });
  return true;
}

/** What a crash has left half made: intents whose maker is gone. */
export function abandonedIntents(env: Environment): WorktreeIntent[] {
  const files = namesIn(folder(env)).filter((name) => name.endsWith('.json'));
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

/** Two that make the same worktree at once have a file each. */
function pathOf(env: Environment, { name, maker }: WorktreeIntent): string {
  return join(folder(env), `${encodeURIComponent(name)}.${maker.pid}.json`);
}

function namesIn(path: string): string[] {
  try {
    return fs.readdirSync(path);
  } catch {
    return [];
  }
}
