import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isRalphError, RalphError } from '../../core/error.ts';
import { isMissing, readFailure } from './file-error.ts';
import { isWithin, realPath } from './real-path.ts';

const { O_NONBLOCK = 0, O_RDONLY } = constants;
const chunkBytes = 256 * 1024;
const unreadable = 'file-unreadable';

/** Opens a regular file for `use` and closes it. Null if there is none; fails if it cannot be read. */
export function useFile<T>(path: string, use: (fd: number, stat: Stats) => T, flags = 0): T | null {
  let fd: number;
  refuseLinkOut(path);
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    fd = openSync(path, O_RDONLY | O_NONBLOCK | flags);
  } catch (error) {
    if (isMissing(error)) return null;
    throw readFailure(path, error);
  }
  try {
    return use(fd, statRegular(fd, path));
  } finally {
    closeSync(fd);
  }
}

/** Returns the stat of an open file; fails for a pipe, a device or a folder in its place, which may block or never end. */
export function statRegular(fd: number, path: string): Stats {
  const stat = fstatSync(fd);
  if (stat.isFile()) return stat;
  throw new RalphError(unreadable, `${path} is not a regular file.`, {
    remedy: `see what it is: ls -ld '${path}'`,
  });
}

/** Fails for a link out of our folder in a working copy: an agent could pass off a key as a file of its run. */
function refuseLinkOut(path: string): void {
  const [root] = /^(?:.*[\\/])?\.ralph(?=[\\/])/.exec(path) ?? [];
  if (root === undefined || isWithin(realPath(path), realPath(root))) return;
  throw new RalphError(unreadable, `${path} is a link out of ${root} and is not followed.`, {
    remedy: `remove it: rm '${path}'`,
  });
}

/** Same as `useFile`, but null also for a file that cannot be read. */
export function tryFile<T>(path: string, use: (fd: number, stat: Stats) => T, flags = 0): T | null {
  try {
    return useFile(path, use, flags);
  } catch (error) {
    if (isRalphError(error) && [unreadable, 'machine-limit'].includes(error.code)) return null;
    throw error;
  }
}

/** Yields the bytes between two places of a file, each chunk in memory of its own. */
export function* readChunks(fd: number, from: number, to = Number.POSITIVE_INFINITY): Generator<Buffer> {
  for (let at = from; at < to; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
    const length = readSync(fd, chunk, 0, chunk.length, at);
    if (length === 0) return;
    yield chunk.subarray(0, length);
    at += length;
  }
}
