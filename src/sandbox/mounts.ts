import { RalphError } from '../core/error.ts';
import { lstatOf } from '../os/files/files.ts';
import { realPath } from '../os/files/real-path.ts';
import type { Protection } from './protect.ts';

/** Shows `from` of this machine inside, at `path`. */
export type Mount = { readonly path: string; readonly from: string; readonly writable: boolean };

/** Sorts parents before children, one mount for each path: of two, the read-only one. */
export function inOrder(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of mounts) {
    if (byPath.get(mount.path)?.writable !== false) byPath.set(mount.path, mount);
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function projectMounts({ writable, readOnly }: Protection, scratch: string): Mount[] {
  return [
    ...writable.map((path) => ({ path, from: path, writable: true })),
    ...readOnly.map(({ path, standIn }) =>
      standIn?.scratch && !lstatOf(path)
        ? { path, from: scratch, writable: true }
        : { path, from: path, writable: false },
    ),
  ];
}

/** Returns the mounts of `sandboxPaths`: `PATH` or `PATH:rw`. */
export function extraMounts(paths: readonly string[]): Mount[] {
  return paths.map((text) => {
    const writable = text.endsWith(':rw');
    const path = realPath(text.replace(/:(?:rw|ro)$/, ''));
    if (lstatOf(path)) return { path, from: path, writable };
    throw new RalphError('sandbox-path', `sandboxPaths has ${text}, which does not exist`, {
      remedy: 'take it out of sandboxPaths, or make it',
    });
  });
}
