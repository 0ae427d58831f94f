import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../attempt.ts';

/** Folders that are not the work: ours, git's, and those that are installed or built. */
export const notTheWork: ReadonlySet<string> = new Set(['.git', '.ralph', 'dist', 'node_modules']);

/** Yields the paths of the files below a folder, sorted, with forward slashes; does not follow links. */
export function* walkFiles(root: string, skipped = notTheWork): Generator<string> {
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const entries = attempt(() => readdirSync(join(root, folder), { withFileTypes: true }), []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) yield path;
      else if (!skipped.has(entry.name)) folders.push(path);
    }
  }
}
