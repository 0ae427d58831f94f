import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const mostLinks = 40;

/**
 * Where a path really leads, through every symbolic link, be it to what is not there yet; the part that is not there stays
 * as it is.
 */
export function realPath(path: string): string {
  return follow(path, mostLinks) ?? path;
}

function follow(path: string, links: number): string | null {
  let rest = '';
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync.native(at), rest);
    } catch {
      const target = targetOf(at);
      if (target !== null) return links === 0 ? null : follow(join(target, rest), links - 1);
      if (at === dirname(at)) return null;
      rest = join(basename(at), rest);
    }
  }
}

function targetOf(path: string): string | null {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return null;
  }
}

/** True if a path is a symbolic link, or may be one because it cannot be read. */
export function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return true;
  }
}

export function findUp(start: string, names: readonly string[]): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name)))) return folder;
    if (folder === dirname(folder)) return null;
  }
}
