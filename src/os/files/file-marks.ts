import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../crypto.ts';
import { walkFiles } from './walk.ts';

/** Path to a mark that changes when the file does. */
export type FileMarks = ReadonlyMap<string, string>;

const defaultMaxFiles = 20_000;
const maxContentBytes = 1024 * 1024;

/** The marks of a folder without git, from size and time of its files; null when there is no folder. */
export function markFolder(root: string, maxFiles = defaultMaxFiles): FileMarks | null {
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) return null;
  const marks = new Map<string, string>();
  for (const path of walkFiles(root)) {
    if (marks.size >= maxFiles) break;
    marks.set(path, brief(join(root, path)));
  }
  return marks;
}

/**
 * The marks of files by what is in them, as long as `maxBytes` last; then, and for large ones, by size and time.
 * A folder (a nested repository) counts with the files below it.
 */
export function markFiles(root: string, paths: Iterable<string>, maxBytes: number): FileMarks {
  const marks = new Map<string, string>();
  let left = maxBytes;
  for (const path of paths) {
    const file = join(root, path);
    const stat = statOf(file);
    if (stat?.isDirectory()) {
      marks.set(path, JSON.stringify([...(markFolder(file) ?? [])]));
    } else if (stat?.isFile() && stat.size <= Math.min(left, maxContentBytes)) {
      left -= stat.size;
      marks.set(path, contentMark(file));
    } else marks.set(path, brief(file));
  }
  return marks;
}

/** A mark of the whole content, whatever its size. */
export function contentMark(file: string): string {
  try {
    // To read a named pipe would mean to wait for ever.
    if (!lstatSync(file).isFile()) return brief(file);
    return sha256(readFileSync(file));
  } catch {
    return 'unreadable';
  }
}

/** The files that came, went or changed between two looks. */
export function changedBetween(before: FileMarks, after: FileMarks): string[] {
  const changed = [...after].filter(([path, mark]) => before.get(path) !== mark).map(([path]) => path);
  return [...changed, ...[...before.keys()].filter((path) => !after.has(path))];
}

function statOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function brief(path: string): string {
  const stat = statOf(path);
  if (stat === null) return 'gone';
  return stat.isSymbolicLink() ? `link ${readlinkSync(path)}` : `${stat.size} ${stat.mtimeMs}`;
}
