import * as fs from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../core/json.ts';
import { ensureDir, readJson, removeIfThere, setAside, writeAtomic } from '../system/files.ts';
import { isAlive, type ProcessIdentity, processIdentity } from '../system/process-identity.ts';
import type { Environment } from '../system/program.ts';
import { fleetPaths } from './fleet-paths.ts';
import type { WorktreePlace } from './fleet-workers.ts';

/** A worktree that is being made: written before the first step, gone when a worker has it or nothing is left of it. */
export type WorktreeIntent = {
  readonly name: string;
  readonly place: WorktreePlace;
  /** The branch is new, and begins at this commit. */
  readonly newBranchAt: string | null;
  /** Who makes it. */
  readonly maker: ProcessIdentity;
};

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
    const read = readJson(path);
    if (read.ok && isIntent(read.value)) return isAlive(read.value.maker) ? [] : [read.value];
    setAside(path);
    return [];
  });
}

function isIntent(value: unknown): value is WorktreeIntent {
  if (!isObject(value) || !isObject(value.place) || !isObject(value.maker)) return false;
  const { path, branch, base_repo } = value.place;
  const texts = [value.name, path, branch, base_repo, value.maker.startedAt];
  return texts.every((text) => typeof text === 'string') && typeof value.maker.pid === 'number';
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
