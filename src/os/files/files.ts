import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import * as v from 'valibot';
import { messageOf, RalphError } from '../../core/error.ts';
import { attempt } from '../attempt.ts';
import { errorCode, isMissing, linkRefused, writeFailure, writing } from './file-error.ts';
import { useFile } from './open-file.ts';
import { isWithin } from './real-path.ts';
import { temporaryName } from './temp.ts';

export type WriteOptions = {
  readonly mode?: number;
  /** Off only for files that may be lost in a power cut. */
  readonly fsync?: boolean;
  /** The target has to be below this folder, and no folder between the two may be a symlink. */
  readonly root?: string;
};

export type JsonRead =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly reason: 'missing' | 'torn' | 'unreadable';
      readonly message: string;
      readonly cause?: unknown;
    };

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants;
const defaultMaxBytes = 64 * 1024 * 1024;

/** Replaces a file: readers see the old content or the new, never a part of it. The folder has to exist. */
export function writeAtomic(path: string, data: string | Uint8Array, options: WriteOptions = {}): void {
  const { mode = 0o600, fsync = true, root } = options;
  const temporary = temporaryName(path);
  try {
    if (root !== undefined) refuseLinkedFolders(path, root);
    refuseLink(path);
    writeNew(temporary, data, mode, fsync);
    renameOver(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw writeFailure(path, error);
  }
}

export type ReadOptions = {
  readonly maxBytes?: number;
  /** The file has to be below this folder; neither it nor a folder between the two may be a symlink. */
  readonly root?: string;
};

/** Returns the text of a regular file without its byte order mark; null if there is none. */
export function readText(path: string, options: ReadOptions = {}): string | null {
  const { maxBytes = defaultMaxBytes, root } = options;
  if (root !== undefined) for (const each of foldersBelow(root, path)) refuseLink(each, 'read');
  return useFile(
    path,
    (fd, { size }) => {
      if (size > maxBytes) {
        throw new RalphError(
          'file-too-large',
          `${path} has ${size} bytes, more than the ${maxBytes} allowed.`,
        );
      }
      const text = readFileSync(fd, 'utf8');
      return text.startsWith('\uFEFF') ? text.slice(1) : text;
    },
    root === undefined ? 0 : O_NOFOLLOW,
  );
}

/** Same as `readText`, but null also for a file that cannot be read. */
export function tryReadText(path: string, options: ReadOptions = {}): string | null {
  return attempt(() => readText(path, options), null);
}

/** Reads a JSON file. Never throws. */
export function readJson(path: string, options: ReadOptions = {}): JsonRead {
  let text: string | null;
  try {
    text = readText(path, options);
  } catch (error) {
    return { ok: false, reason: 'unreadable', message: messageOf(error), cause: error };
  }
  if (text === null) return { ok: false, reason: 'missing', message: `${path} does not exist.` };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, reason: 'torn', message: `${path} is not valid JSON: ${messageOf(error)}` };
  }
}

/** Reads a JSON file by its schema; null if there is no such file or it does not fit. */
export function readJsonAs<S extends v.GenericSchema>(path: string, schema: S): v.InferOutput<S> | null {
  const file = readJson(path);
  const { success, output } = v.safeParse(schema, file.ok ? file.value : undefined);
  return success ? output : null;
}

/** Moves a file out of the way, into `folder` if it can, and returns its new path; null if it was gone already. */
export function setAside(path: string, folder = dirname(path)): string | null {
  for (let n = 1; ; n++) {
    const target = join(folder, `${basename(path)}.bad-${n}`);
    if (lstatOf(target)) continue;
    try {
      renameSync(path, target);
      return target;
    } catch (error) {
      // The folder may be on another disk.
      if (folder !== dirname(path) && lstatOf(path)) return setAside(path);
      if (isMissing(error)) return null;
      throw writeFailure(path, error);
    }
  }
}

/** Makes the folder and those above it, unless they exist. */
export function ensureDir(path: string, mode = 0o700): void {
  writing(path, () => makeDir(resolve(path), mode));
}

// Not with `recursive`: below /proc, where mkdir fails with ENOENT, Node 20 tries for ever.
function makeDir(path: string, mode: number): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeDir(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

/** Makes every folder from `root` down to `path` a real one; sets aside what is in the way, symlinks too. */
export function reclaimDir(path: string, root: string, mode = 0o700, aside?: string): void {
  ensureDir(root, 0o755);
  for (const folder of foldersBelow(root, path)) {
    if (lstatOf(folder)?.isDirectory()) continue;
    setAside(folder, aside);
    ensureDir(folder, mode);
  }
}

/** True if every folder from `root` down to `path` exists and none is a symlink. */
export function isRealDir(path: string, root: string): boolean {
  return foldersBelow(root, path).every((folder) => lstatOf(folder)?.isDirectory());
}

/** Moves a folder to a free path on the same disk; false if it cannot. */
export function moveFolder(from: string, to: string): boolean {
  try {
    if (!lstatSync(from).isDirectory() || existsSync(to)) return false;
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

export function removeIfThere(path: string): void {
  try {
    // The first `rmSync` of a process costs a millisecond, as much as a small hook has.
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw writeFailure(path, error);
  }
}

export function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Returns the sorted entry names of a folder; none if there is no folder. */
export function listDir(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Removes an empty folder; true if it is gone. */
export function removeEmptyDir(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return isMissing(error);
  }
}

/** Looks at a path without following links; null if nothing is there. */
export function lstatOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** True for a folder, also behind a symlink. */
export function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory(), false);
}

/** True for a regular file, also behind a symlink. */
export function isFile(path: string): boolean {
  return attempt(() => statSync(path).isFile(), false);
}

/** Writes a file that must not exist yet, with these permissions whatever the umask. */
export function writeNew(path: string, data: string | Uint8Array, mode: number, fsync: boolean): void {
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    if (mode !== 0o600) fchmodSync(fd, mode);
    writeFileSync(fd, data);
    if (fsync) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

// Windows refuses a rename for some milliseconds while a virus scanner or an indexer has the target open.
function renameOver(from: string, to: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      if (process.platform !== 'win32' || attempt === 10) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, attempt * 5);
    }
  }
}

function refuseLink(path: string, purpose: 'read' | 'written' = 'written'): void {
  if (lstatOf(path)?.isSymbolicLink()) throw linkRefused(path, purpose);
}

/** Fails if a folder between `root` and the file at `path` is a symlink. */
export function refuseLinkedFolders(path: string, root: string): void {
  for (const folder of foldersBelow(root, dirname(path))) refuseLink(folder);
}

/** Returns the paths from below `root` down to `path` itself. */
function foldersBelow(root: string, path: string): string[] {
  const inside = relative(resolve(root), resolve(path));
  if (!isWithin(resolve(path), resolve(root)))
    throw new RalphError('outside-root', `${path} is not below ${root}.`);
  const parts = inside === '' ? [] : inside.split(sep);
  return parts.map((_, index) => join(resolve(root), ...parts.slice(0, index + 1)));
}

/** Returns a text that changes whenever the file does; empty if there is none. */
export function fileStamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino}/${stat.mtimeMs}/${stat.ctimeMs}/${stat.size}`;
}
