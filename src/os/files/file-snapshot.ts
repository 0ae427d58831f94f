import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isMachineFailure, readFailure } from './file-error.ts';
import { isRealDir, reclaimDir, setAside, writeAtomic } from './files.ts';

/** Content of files that must not change while the loop runs. */
export type FileSnapshot = {
  /** Undoes changes, removals and additions. Returns each path, and where the other version is: it may be a person's. */
  restore(): string[];
};

/** Remembers files by their paths relative to `root`, also those that do not exist. */
export function snapshotFiles(root: string, paths: readonly string[]): FileSnapshot {
  const files = paths.flatMap((name) => {
    const path = join(root, name);
    const content = contentOf(path);
    // A file that cannot be read cannot be put back, and must not pass for a missing one.
    if (content === null && lstatSync(path, { throwIfNoEntry: false })) return [];
    return [{ name, path, content, mode: modeOf(path) }];
  });
  return {
    restore() {
      const changes = files.filter(({ path, content }) => !isUnchanged(path, content, root));
      return changes.map(({ name, path, content, mode }) => {
        reclaimDir(dirname(path), root, 0o755);
        // Also a link or a folder that was put in its place.
        const aside = setAside(path);
        if (content !== null) writeAtomic(path, content, { mode, root });
        return aside === null ? name : `${name} (the changed one is ${basename(aside)})`;
      });
    },
  };
}

function isUnchanged(path: string, before: Buffer | null, root: string): boolean {
  const now = contentOf(path);
  if (before === null || now === null) return before === now;
  return now.equals(before) && isRealDir(dirname(path), root);
}

function contentOf(path: string): Buffer | null {
  try {
    return lstatSync(path).isFile() ? readFileSync(path) : Buffer.from('not a file');
  } catch (error) {
    const failure = readFailure(path, error);
    if (isMachineFailure(failure)) throw failure;
    return null;
  }
}

/** Returns the permissions, because a hook that cannot be executed is none. */
function modeOf(path: string): number {
  return (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
}
