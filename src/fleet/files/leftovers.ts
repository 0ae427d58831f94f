import { join } from 'node:path';
import { lstatOf } from '../../os/files/files.ts';
import { acquireLock, lockOwner } from '../../os/files/lock.ts';
import { walkFiles } from '../../os/files/walk.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths } from './paths.ts';

/** Nobody writes that long on a small file. */
const temporaryMs = 60_000;

/** Locks whose owner is gone. They keep nobody out, and nobody needs them. */
export function staleLocks(env: Environment): string[] {
  return filesOf(env).filter((path) => /\.lock(?:\.takeover)?$/.test(path) && lockOwner(path) === null);
}

/** Takes a stale lock as its next owner would, so that nobody who has it now loses it. */
export function removeLock(path: string): boolean {
  const attempt = acquireLock(path, {});
  if (attempt.ok) attempt.lock.release();
  return attempt.ok;
}

/** What writers that were killed left beside the file that they wanted to write. */
export function oldTemporaries(env: Environment, now: number): string[] {
  return filesOf(env).filter((path) => {
    if (!/\/\.[^/]+\.tmp$/.test(path)) return false;
    const writtenAt = lstatOf(path)?.mtimeMs;
    return writtenAt !== undefined && now - writtenAt > temporaryMs;
  });
}

function filesOf(env: Environment): string[] {
  const { root } = fleetPaths(env);
  return [...walkFiles(root, new Set())].map((path) => join(root, path));
}
