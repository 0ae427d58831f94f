import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../attempt.ts';
import { sha256 } from '../crypto.ts';
import { walkFiles } from './walk.ts';

/** Fingerprints of files by their paths; each changes when its file does. */
export type FileMarks = ReadonlyMap<string, string>;

const defaultMaxFiles = 20_000;
const maxContentBytes = 1024 * 1024;

/** Returns fingerprints of all files of a folder, from their sizes and times; null if there is no folder. */
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
 * Returns fingerprints from the content of files, `maxBytes` in all; of the rest, and of large ones, from size and time.
 * A folder (a nested repository) counts with the files below it.
 */
export function markFiles(root: string, paths: Iterable<string>, maxBytes: number): FileMarks {
  const marks = new Map<string, string>();
  let budget = maxBytes;
  for (const path of paths) {
    const file = join(root, path);
    const stat = statOf(file);
    if (stat?.isDirectory()) {
      marks.set(path, JSON.stringify([...(markFolder(file) ?? [])]));
    } else if (stat?.isFile() && stat.size <= Math.min(budget, maxContentBytes)) {
      budget -= stat.size;
      marks.set(path, contentMark(file));
    } else marks.set(path, brief(file));
  }
  return marks;
}

/** Returns a fingerprint of the whole content, whatever its size. */
export function contentMark(file: string): string {
  // Reading a named pipe would wait for ever.
  const digest = () => (lstatSync(file).isFile() ? sha256(readFileSync(file)) : brief(file));
  return attempt(digest, 'unreadable');
}

/** Returns the files that were added, removed or changed between two looks. */
export function changedBetween(before: FileMarks, after: FileMarks): string[] {
  const changes = [...after].filter(([path, mark]) => before.get(path) !== mark).map(([path]) => path);
  return [...changes, ...[...before.keys()].filter((path) => !after.has(path))];
}

function statOf(path: string): Stats | null {
  return attempt(() => lstatSync(path), null);
}

function brief(path: string): string {
  const stat = statOf(path);
  if (stat === null) return 'gone';
  return stat.isSymbolicLink() ? `link ${readlinkSync(path)}` : `${stat.size} ${stat.mtimeMs}`;
}
