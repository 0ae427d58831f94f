import * as fs from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../system/files.ts';
import { acquireLock, lockOwner } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';
import { fleetPaths } from './fleet-paths.ts';

/** Nobody writes that long on a small file. */
const temporaryMs = 60_000;

/** Locks whose owner is gone. They keep nobody out, and nobody needs them. */
export function staleLocks(env: Environment): string[] {
  return filesOf(env).filter((path) => /\.lock(?:\.takeover)?$/.test(path) && lockOwner(path) === null);
}

/** Takes a stale lock as its next owner would, so that nobody who has it now loses it. */
export function removeLock(path: string): boolean {
  const taken = acquireLock(path, {});
  if (taken.ok) taken.lock.release();
  return taken.ok;
}

/** What writers that were killed left beside the file that they wanted to write. */
export function oldTemporaries(env: Environment, now: number): string[] {
  return filesOf(env).filter((path) => {
    if (!/\/\.[^/]+\.tmp$/.test(path)) return false;
    const written = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return written !== undefined && now - written > temporaryMs;
  });
}

export function removeTemporary(path: string): void {
  removeIfThere(path);
}

function filesOf(env: Environment): string[] {
  const { root } = fleetPaths(env);
  try {
    return fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
