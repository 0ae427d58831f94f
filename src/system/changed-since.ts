import { statSync } from 'node:fs';
import { join } from 'node:path';
import { walkFiles } from './walk.ts';

const mostFiles = 20_000;

/** Whether a file below the folder was written since then. Looks at a limited number of files. */
export function changedSince(root: string, since: number): boolean {
  let seen = 0;
  for (const path of walkFiles(root)) {
    if (++seen > mostFiles) return false;
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (stat && stat.mtimeMs >= since) return true;
  }
  return false;
}
