import { join } from 'node:path';
import { lstatOf } from '../../os/files/files.ts';
import { acquireLock, lockOwner } from '../../os/files/lock.ts';
import { walkFiles } from '../../os/files/walk.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths } from './paths.ts';

/** Age of a temporary file that no process writes any more. */
const temporaryMs = 60_000;

/** Returns locks whose owner is gone. */
export function staleLocks(env: Environment): string[] {
  return filesOf(env).filter((path) => /\.lock(?:\.takeover)?$/.test(path) && lockOwner(path) === null);
}

/** Removes a stale lock by acquiring and releasing it, so that no live owner loses it. */
export function removeLock(path: string): boolean {
  const attempt = acquireLock(path, {});
  if (attempt.ok) attempt.lock.release();
  return attempt.ok;
}

/** Returns temporary files of killed writers. */
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
