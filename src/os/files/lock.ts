import { linkSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import * as v from 'valibot';
import { RalphError } from '../../core/error.ts';
import {
  isAlive,
  ownIdentity,
  type ProcessIdentity,
  processIdentitySchema,
} from '../process/process-identity.ts';
import { errorCode, isMachineFailure, writing } from './file-error.ts';
import { lstatOf, readJson, reclaimDir, removeIfThere, setAside, writeNew } from './files.ts';
import { temporaryName } from './temp.ts';

export type LockInfo = ProcessIdentity & { readonly info: Readonly<Record<string, unknown>> };

export type Lock = {
  release(): void;
  /** Puts the lock back if it was removed or damaged; true if that was needed. A living owner keeps it. */
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
type LockState = { readonly state: 'absent' | 'held' | 'dead'; readonly file: LockFile };

const unknownFile: LockFile = { pid: 0, startedAt: '', token: '', info: {} };
// Writing one line takes less, on file systems without hard links.
const halfWrittenMs = 10_000;

/** Takes the lock unless a living process has it. The lock of a dead owner goes to exactly one caller. */
export function acquireLock(path: string, info: Record<string, unknown>): LockResult {
  const token = `${process.pid}.${Math.random().toString(36).slice(2)}`;
  return withFile(path, lockText(token, info), (ours) => take(path, ours, token, info));
}

/** Holds the lock while `use` works. Waits for others, who hold it for some milliseconds. */
export function withLock<T>(path: string, use: () => T): T {
  for (let attempt = 0; ; attempt++) {
    const result = acquireLock(path, {});
    if (result.ok) {
      try {
        return use();
      } finally {
        result.lock.release();
      }
    }
    if (attempt === 1000) throw new Error(`${basename(path)} is held by process ${result.owner.pid}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

/** Returns the living owner of a lock, or null. */
export function lockOwner(path: string): LockInfo | null {
  const lock = look(path);
  return lock.state === 'held' ? ownerOf(lock) : null;
}

/** Returns the error for a lock whose file does not say who owns it; null if it does. */
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
    const current = look(path);
    if (current.state === 'absent') continue;
    if (current.state === 'held') return { ok: false, owner: ownerOf(current) };
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
      if (lstatOf(folder)?.isDirectory() && lstatOf(path)?.isFile() && isOurs()) return false;
      reclaimDir(folder, dirname(folder), 0o755);
      if (lstatOf(path) && (tokenIn(path) === null || look(path).state === 'dead')) setAside(path);
      return withFile(path, lockText(token, info), (ours) => linkNew(ours, path));
    },
  };
}

/** Returns the token of the writer of a lock; null if it is no lock, or missing. Throws if the machine cannot read it. */
function tokenIn(path: string): string | null {
  const file = readJson(path);
  if (!file.ok && isMachineFailure(file.cause)) throw file.cause;
  const { success, output } = v.safeParse(lockFile, file.ok ? file.value : null);
  return success ? output.token : null;
}

/** Calls `use` with a temporary file beside `path` that has this text. */
function withFile<T>(path: string, text: string, use: (file: string) => T): T {
  const file = temporaryName(path);
  try {
    return writing(path, () => {
      writeNew(file, text, 0o600, false);
      return use(file);
    });
  } finally {
    removeIfThere(file);
  }
}

function lockText(token: string, info: Record<string, unknown>): string {
  return `${JSON.stringify({ ...ownIdentity(), token, info })}\n`;
}

/** Makes the lock with all its text at once; false if there is one already. */
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

function look(path: string): LockState {
  const json = readJson(path);
  if (json.ok && v.is(lockFile, json.value)) {
    return { state: isAlive(json.value) ? 'held' : 'dead', file: json.value };
  }
  if (!json.ok && json.reason === 'missing') return { state: 'absent', file: unknownFile };
  if (!json.ok && json.reason === 'unreadable') {
    throw new RalphError('lock-unusable', json.message, { remedy: `remove it: rm -r '${path}'` });
  }
  const writtenAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const halfWritten = Math.abs(Date.now() - writtenAt) < halfWrittenMs;
  return { state: halfWritten ? 'held' : 'dead', file: unknownFile };
}

function ownerOf({ file: { pid, startedAt, info } }: LockState): LockInfo {
  return { pid, startedAt, info };
}
