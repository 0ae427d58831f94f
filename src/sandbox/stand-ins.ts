import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { sandboxFolder } from '../config/paths.ts';
import { errorCode } from '../os/files/file-error.ts';
import {
  ensureDir,
  listDir,
  lstatOf,
  readJsonAs,
  readText,
  removeEmptyDir,
  removeIfThere,
  writeAtomic,
  writeNew,
} from '../os/files/files.ts';
import { withLock } from '../os/files/lock.ts';
import { removeTempDir } from '../os/files/temp.ts';
import type { Environment } from '../os/process/process.ts';
import { isAlive, ownIdentity, processIdentitySchema } from '../os/process/process-identity.ts';
import type { Protected } from './protect.ts';

/** Placeholder files and folders that mounts need where nothing is. */
export type StandIns = ReturnType<typeof createStandIns>;

const ownedRecord = v.object({ owner: processIdentitySchema });
const temporary = v.object({ folder: v.string() });
const placed = v.object({ path: v.string(), content: v.nullable(v.string()) });
const entry = v.object({ ...ownedRecord.entries, placed: v.array(placed) });

type Placed = v.InferOutput<typeof placed>;
type Entry = v.InferOutput<typeof entry>;

/**
 * Records placeholders before it makes them, so that those of a killed process are removed later; and only if they are
 * still empty, or as we wrote them. Sandboxes in worktrees of one repository share some: the last one removes them.
 */
export function createStandIns(env: Environment, name: string, paths: readonly Protected[]) {
  const folder = recordsIn(env);
  const file = `${name}.json`;
  return {
    /** Removes those that no other sandbox needs. */
    clear(): void {
      if (lstatOf(join(folder, file))) locked(folder, () => clearRecord(folder, file));
    },
    place(): void {
      locked(folder, () => {
        clearRecord(folder, file);
        const others = new Set(livingRecords(folder).flatMap(({ placed }) => placed.map(({ path }) => path)));
        const isOurs = (path: string) => others.has(path) || !lstatOf(path);
        const placed = paths.flatMap(({ path, standIn }) =>
          standIn && isOurs(path) ? [{ path, content: standIn.content }, ...above(path, isOurs)] : [],
        );
        if (placed.length === 0) return;
        const owner = ownIdentity();
        writeAtomic(join(folder, file), JSON.stringify({ owner, placed }), { fsync: false });
        for (const each of placed) make(each);
      });
    },
  };
}

/** Records a temporary folder, so that it is removed when its owner is dead. */
export function keepOnRecord(env: Environment, path: string): { forget(): void } {
  const folder = recordsIn(env);
  ensureDir(folder);
  const owner = ownIdentity();
  const file = join(folder, `${owner.pid}-${Math.random().toString(36).slice(2)}.temporary`);
  writeAtomic(file, JSON.stringify({ owner, folder: path }), { fsync: false });
  return { forget: () => removeIfThere(file) };
}

/** Removes what sandboxes left whose process is dead. */
export function clearAbandoned(env: Environment): void {
  const folder = recordsIn(env);
  if (listDir(folder).every((name) => !isAbandoned(join(folder, name)))) return;
  locked(folder, () => {
    for (const name of listDir(folder).filter((each) => isAbandoned(join(folder, each)))) {
      if (name.endsWith('.json')) clearRecord(folder, name);
      else clearTemporary(join(folder, name));
    }
  });
}

function recordsIn(env: Environment): string {
  return join(sandboxFolder(env), 'stand-ins');
}

function locked(folder: string, use: () => void): void {
  ensureDir(folder);
  withLock(join(folder, 'lock'), use);
}

/** Returns the missing folders above a path, the lowest first. */
function above(path: string, isOurs: (path: string) => boolean): Placed[] {
  const folder = dirname(path);
  return isOurs(folder) ? [{ path: folder, content: null }, ...above(folder, isOurs)] : [];
}

function make({ path, content }: Placed): void {
  if (content === null) {
    ensureDir(path, 0o755);
    return;
  }
  try {
    writeNew(path, content, 0o644, false);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function clearRecord(folder: string, file: string): void {
  const needed = new Set(livingRecords(folder, file).flatMap(({ placed }) => placed.map(({ path }) => path)));
  const record = readJsonAs(join(folder, file), entry);
  const remaining = record?.placed.filter((each) => !needed.has(each.path) && !isCleared(each)) ?? [];
  if (remaining.length === 0) removeIfThere(join(folder, file));
  else writeAtomic(join(folder, file), JSON.stringify({ ...record, placed: remaining }), { fsync: false });
}

/** False if we may not look there, because an agent closed the folder of its project: then it stays on record. */
function isCleared({ path, content }: Placed): boolean {
  try {
    if (content === null) return removeEmptyDir(path) || lstatOf(path) !== null;
    if (lstatOf(path)?.isFile() && readText(path) === content) removeIfThere(path);
    return true;
  } catch {
    return false;
  }
}

function clearTemporary(file: string): void {
  const path = readJsonAs(file, temporary)?.folder ?? '';
  if (/\/ralph-net-[^/]+$/.test(path) && lstatOf(path)?.isDirectory()) removeTempDir(path);
  removeIfThere(file);
}

/** Returns the records of living sandboxes but that of `file`. */
function livingRecords(folder: string, file = ''): Entry[] {
  return listDir(folder).flatMap((name) => {
    if (!name.endsWith('.json') || name === file) return [];
    const record = readJsonAs(join(folder, name), entry);
    return record !== null && isAlive(record.owner) ? [record] : [];
  });
}

function isAbandoned(path: string): boolean {
  if (!/\.(json|temporary)$/.test(path)) return false;
  const record = readJsonAs(path, ownedRecord);
  return record === null || !isAlive(record.owner);
}
