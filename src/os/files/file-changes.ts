import { rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ensureDir, removeEmptyDir, writeAtomic } from './files.ts';

/** Content of a file before and after a change; null is no file. */
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

/** Removes empty folders of a host: `.claude/skills/ralph-plan`, `.claude/skills`, `.claude`. */
function removeEmpty(folder: string, levels = 3): void {
  const isGone = removeEmptyDir(folder);
  if (isGone && levels > 1 && !basename(folder).startsWith('.')) removeEmpty(dirname(folder), levels - 1);
}

/** Returns the permissions of a file: a private one stays private. */
function modeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? stat.mode & 0o777 : 0o644;
}
