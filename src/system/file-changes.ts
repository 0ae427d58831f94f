import { rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ensureDir, writeAtomic } from './files.ts';

/** A file as it is and as it shall be; null is no file. */
export type FileChange = {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
};

export function applyChanges(changes: readonly FileChange[]): void {
  for (const { path, after } of changes) {
    if (after === null) {
      rmSync(path, { force: true });
      removeEmpty(dirname(path));
      continue;
    }
    ensureDir(dirname(path), 0o755);
    writeAtomic(path, after, { mode: modeOf(path) });
  }
}

/** Takes the folder of a host away that has nothing in it any more, and the one around it: `.claude/commands`, `.claude`. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
    if (!basename(folder).startsWith('.')) rmdirSync(dirname(folder));
  } catch {
    // It is in use.
  }
}

/** A file that its owner keeps private stays so. */
function modeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? stat.mode & 0o777 : 0o644;
}
