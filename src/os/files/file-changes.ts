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

/** Takes folders of a host away that have nothing in them any more: `.claude/skills/ralph-plan`, `.claude/skills`, `.claude`. */
function removeEmpty(folder: string, levels = 3): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is in use.
    return;
  }
  if (levels > 1 && !basename(folder).startsWith('.')) removeEmpty(dirname(folder), levels - 1);
}

/** A file that its owner keeps private stays so. */
function modeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? stat.mode & 0o777 : 0o644;
}
