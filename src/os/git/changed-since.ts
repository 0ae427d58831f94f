import { statSync } from 'node:fs';
import { join } from 'node:path';
import { notTheWork, walkFiles } from '../files/walk.ts';

const mostFiles = 20_000;
/** Folders that change with every turn if the loop runs in a home. */
const skipped: ReadonlySet<string> = new Set([
  ...notTheWork,
  '.cache',
  '.claude',
  '.codex',
  '.gemini',
  '.local',
]);

/** True if a file below the folder was written since then. Looks at a limited number of files. */
export function changedSince(root: string, since: number): boolean {
  let count = 0;
  for (const path of walkFiles(root, skipped)) {
    if (++count > mostFiles) return false;
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (stat && stat.mtimeMs >= since) return true;
  }
  return false;
}
