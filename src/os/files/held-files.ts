import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRealDir, reclaimDir, setAside, writeAtomic } from './files.ts';

/** Files that must not change while the loop runs. */
export type HeldFiles = {
  /** Puts back what was changed, removed or added, and says where the other version is: it may be a person's. */
  restore(): string[];
};

/** Holds the content of files (paths relative to `root`), those that do not exist included. */
export function holdFiles(root: string, paths: readonly string[]): HeldFiles {
  const held = paths.map((path) => ({
    path,
    content: read(join(root, path)),
    mode: modeOf(join(root, path)),
  }));
  return {
    restore() {
      const changed = held.filter(({ path, content }) => !isAsHeld(join(root, path), content, root));
      return changed.map(({ path, content, mode }) => {
        const aside = putBack(join(root, path), content, mode, root);
        return aside === null ? path : `${path} (the changed one is ${basename(aside)})`;
      });
    },
  };
}

function isAsHeld(path: string, content: Buffer | null, root: string): boolean {
  const found = read(path);
  if (content === null || found === null) return content === found;
  return found.equals(content) && isRealDir(dirname(path), root);
}

function putBack(path: string, content: Buffer | null, mode: number, root: string): string | null {
  reclaimDir(dirname(path), root, 0o755);
  // Also a link or a folder that was put in its place.
  const aside = setAside(path);
  if (content !== null) writeAtomic(path, content, { mode, root });
  return aside;
}

function read(path: string): Buffer | null {
  try {
    return fs.lstatSync(path).isFile() ? fs.readFileSync(path) : Buffer.from('not a file');
  } catch {
    return null;
  }
}

/** A hook that cannot be executed is none. */
function modeOf(path: string): number {
  return (fs.lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
}
