import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

/** Path to fingerprint of content. */
export type Fingerprints = Readonly<Record<string, string>>;

const skipped = new Set(['.git', '.ralph', 'node_modules']);
const maxFiles = 100_000;

/** Fingerprints of the files below `root` that `wanted` picks, by their paths with forward slashes. */
export function fingerprintFiles(root: string, wanted: (path: string) => boolean): Fingerprints {
  const found: Record<string, string> = {};
  const folders = [''];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) folders.push(path);
        continue;
      }
      if (++seen > maxFiles) return found;
      if (wanted(path)) found[path] = fingerprint(join(root, path));
    }
  }
  return found;
}

function fingerprint(path: string): string {
  try {
    if (fs.lstatSync(path).isSymbolicLink()) return `link ${fs.readlinkSync(path)}`;
    return createHash('sha256').update(fs.readFileSync(path)).digest('hex');
  } catch {
    return 'unreadable';
  }
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
