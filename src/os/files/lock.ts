import { linkSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import * as v from 'valibot';
import { RalphError } from '../../core/error.ts';
import {
  isAlive,
  type ProcessIdentity,
  processIdentity,
  processIdentitySchema,
} from '../process/process-identity.ts';
import { errorCode, writeFailure } from './file-error.ts';
import {
  lstatOf,
  readJson,
  readJsonAs,
  reclaimDir,
  removeIfThere,
  setAside,
  temporaryName,
  writeNew,
} from './files.ts';

/** Who holds a lock, and what it wanted others to know. */
export type LockInfo = ProcessIdentity & { readonly info: Readonly<Record<string, unknown>> };

export type Lock = {
  /** Removes the lock if it is still ours. */
  release(): void;
  /** Puts the lock back if it was removed or made unreadable; true when that was needed. A living owner keeps it. */
  restore(info: Record<string, unknown>): boolean;
};

export type LockResult =
  /** `tookOver` is the dead owner before us. */
  | { readonly ok: true; readonly lock: Lock; readonly tookOver?: LockInfo }
  | { readonly ok: false; readonly owner: LockInfo };

const lockFile = v.object({
  ...processIdentitySchema.entries,
  token: v.string(),
  info: v.record(v.string(), v.unknown()),
});
type LockFile = v.InferOutput<typeof lockFile>;
type Found = { readonly state: 'absent' | 'held' | 'dead'; readonly file: LockFile };

const unknownFile: LockFile = { pid: 0, startedAt: '', token: '', info: {} };
// Longer than writing one line can take, on file systems without hard links.
const halfWrittenMs = 10_000;

/** Takes the lock unless a living process has it. A lock whose owner is dead goes to exactly one of those who ask. */
export function acquireLock(path: string, info: Record<string, unknown>): LockResult {
  const token = `${process.pid}.${Math.random().toString(36).slice(2)}`;
  return withFile(path, lockText(token, info), (ours) => take(path, ours, token, info));
}

/** Holds the lock while `use` works. The others hold it for some milliseconds, so waiting for them is short. */
export function withLock<T>(path: string, use: () => T): T {
  for (let attempt = 0; ; attempt++) {
    const taken = acquireLock(path, {});
    if (taken.ok) {
      try {
        return use();
      } finally {
        taken.lock.release();
      }
    }
    if (attempt === 1000) throw new Error(`${basename(path)} is held by process ${taken.owner.pid}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

/** The living owner of a lock, or null. */
export function lockOwner(path: string): LockInfo | null {
  const found = look(path);
  return found.state === 'held' ? ownerOf(found) : null;
}

/** What to tell when a lock was not had and its file does not say who has it; null when it does. */
export function unreadableLock(path: string, owner: LockInfo): RalphError | null {
  if (owner.pid !== unknownFile.pid) return null;
  return new RalphError('lock-unreadable', `there is a lock that cannot be read: ${path}`, {
    remedy: `remove it if no loop runs here: rm '${path}'`,
  });
}

function take(path: string, ours: string, token: string, info: Record<string, unknown>): LockResult {
  const lock = createLock(path, token);
  for (let attempt = 0; attempt < 100; attempt++) {
    if (linkNew(ours, path)) return { ok: true, lock };
    const found = look(path);
    if (found.state === 'absent') continue;
    if (found.state === 'held') return { ok: false, owner: ownerOf(found) };
    // Only the holder of this second lock may replace a dead one, and it looks again before it does.
    const claim = acquireLock(`${path}.takeover`, info);
    if (!claim.ok) return claim;
    try {
      const again = look(path);
      if (again.state !== 'dead') continue;
      renameSync(ours, path);
      return { ok: true, lock, tookOver: ownerOf(again) };
    } finally {
      claim.lock.release();
    }
  }
  throw new RalphError('lock-unusable', `${path} can neither be made nor read as a lock.`, {
    remedy: `remove it: rm '${path}'`,
  });
}

function createLock(path: string, token: string): Lock {
  const isOurs = () => tokenIn(path) === token;
  return {
    release() {
      if (isOurs()) removeIfThere(path);
    },
    restore(info) {
      const folder = dirname(path);
      const isInPlace = lstatOf(folder)?.isDirectory() && lstatOf(path)?.isFile() && tokenIn(path) === token;
      if (isInPlace) return false;
      reclaimDir(folder, dirname(folder), 0o755);
      if (lstatOf(path) && (tokenIn(path) === null || look(path).state === 'dead')) setAside(path);
      return withFile(path, lockText(token, info), (ours) => linkNew(ours, path));
    },
  };
}

/** The mark of whoever wrote the lock; null when it is no lock, or not there. */
function tokenIn(path: string): string | null {
  return readJsonAs(path, lockFile)?.token ?? null;
}

/** Gives `use` a file beside `path` with this text, which is gone afterwards unless it was renamed. */
function withFile<T>(path: string, text: string, use: (file: string) => T): T {
  const file = temporaryName(path);
  try {
    writeNew(file, text, 0o600, false);
    return use(file);
  } catch (error) {
    throw writeFailure(path, error);
  } finally {
    removeIfThere(file);
  }
}

function lockText(token: string, info: Record<string, unknown>): string {
  const identity = processIdentity(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  return `${JSON.stringify({ ...identity, token, info })}\n`;
}

/** The lock appears with all its text at once, or not at all because there is one. */
function linkNew(from: string, path: string): boolean {
  try {
    linkSync(from, path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT' || code === 'ENOSPC') throw error;
  }
  // No hard links here (exFAT, some network mounts).
  try {
    writeNew(path, readFileSync(from), 0o600, false);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function look(path: string): Found {
  const read = readJson(path);
  if (read.ok && v.is(lockFile, read.value)) {
    return { state: isAlive(read.value) ? 'held' : 'dead', file: read.value };
  }
  if (!read.ok && read.reason === 'missing') return { state: 'absent', file: unknownFile };
  if (!read.ok && read.reason === 'unreadable') {
    throw new RalphError('lock-unusable', read.message, { remedy: `remove it: rm -r '${path}'` });
  }
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const halfWritten = Math.abs(Date.now() - written) < halfWrittenMs;
  return { state: halfWritten ? 'held' : 'dead', file: unknownFile };
}

function ownerOf({ file: { pid, startedAt, info } }: Found): LockInfo {
  return { pid, startedAt, info };
}
