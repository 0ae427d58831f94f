import { createHash, type Hash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

const defaultMaxFiles = 20_000;
const maxContentBytes = 1024 * 1024;
const skipped = new Set(['.git', '.ralph', 'dist', 'node_modules']);

/** A fingerprint of a folder without git, from path, size and time of its files; null when there is no folder. */
export async function folderState(cwd: string, maxFiles = defaultMaxFiles): Promise<string | null> {
  if (!fs.statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return null;
  const hash = createHash('sha256');
  addFolder(hash, cwd, maxFiles);
  return hash.digest('hex');
}

/**
 * Adds files to a fingerprint by what is in them, as long as `maxBytes` last; then, and for large ones, by size and
 * time. A folder (a nested repository) counts with the files below it.
 */
export function addFiles(hash: Hash, root: string, paths: readonly string[], maxBytes: number): void {
  let left = maxBytes;
  for (const path of paths) {
    const file = join(root, path);
    const stat = statOf(file);
    hash.update(`\0${path}\0`);
    if (stat === null) hash.update('gone');
    else if (stat.isDirectory()) addFolder(hash, file);
    else if (stat.isFile() && stat.size <= Math.min(left, maxContentBytes)) {
      left -= stat.size;
      hash.update(contentOf(file));
    } else hash.update(brief(file, stat));
  }
}

function addFolder(hash: Hash, root: string, maxFiles = defaultMaxFiles): void {
  const folders = [''];
  let files = 0;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of entriesOf(join(root, folder))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) folders.push(path);
        continue;
      }
      if (++files > maxFiles) return;
      const stat = statOf(join(root, path));
      hash.update(`${path}\0${stat === null ? 'gone' : brief(join(root, path), stat)}\0`);
    }
  }
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function statOf(path: string): fs.Stats | null {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function brief(path: string, stat: fs.Stats): string {
  return stat.isSymbolicLink() ? `link ${fs.readlinkSync(path)}` : `${stat.size} ${stat.mtimeMs}`;
}

function contentOf(file: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch {
    return Buffer.from('unreadable');
  }
}
