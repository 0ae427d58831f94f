import { existsSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { attempt } from '../attempt.ts';

const mostLinks = 40;

/** Resolves every symbolic link in a path, also those to missing files; a missing part stays as it is. */
export function realPath(path: string): string {
  return follow(path, mostLinks) ?? path;
}

function follow(path: string, links: number): string | null {
  let missing = '';
  for (let at = path; ; at = dirname(at)) {
    const real = attempt(() => realpathSync.native(at), null);
    if (real !== null) return join(real, missing);
    const target = attempt(() => resolve(dirname(at), readlinkSync(at)), null);
    if (target !== null) return links === 0 ? null : follow(join(target, missing), links - 1);
    if (at === dirname(at)) return null;
    missing = join(basename(at), missing);
  }
}

/** Returns the nearest folder at or above `start` that contains one of the names, or null. */
export function findUp(start: string, names: readonly string[]): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name)))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** True if a path is the folder itself or below it; resolves no links. */
export function isWithin(path: string, folder: string): boolean {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside.split(sep)[0] !== '..';
}
