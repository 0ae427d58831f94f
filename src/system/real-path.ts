import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Where a path really leads, through every symbolic link; the part that is not there yet stays as it is. */
export function realPath(path: string): string {
  let rest = '';
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync.native(at), rest);
    } catch {
      if (at === dirname(at)) return path;
      rest = join(basename(at), rest);
    }
  }
}

/** The nearest folder at or above `start` that has one of the names in it, or null. */
export function findUp(start: string, names: readonly string[]): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name)))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Whether a path is the folder itself or below it; both as they stand. */
export function isWithin(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside.split(sep)[0] !== '..';
}
