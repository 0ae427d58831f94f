import { UNKNOWN } from './marks.ts';
import type { World } from './model.ts';

/** Area of the file system that a path belongs to. */
export type Zone =
  | 'unknown'
  | 'device'
  | 'sink'
  | 'loop'
  | 'agent'
  | 'hooks'
  | 'git'
  | 'project-root'
  | 'project'
  | 'cache'
  | 'startup'
  | 'credentials'
  | 'home'
  | 'kernel'
  | 'system'
  | 'temporary-root'
  | 'temporary'
  | 'outside';

/** Makes a path absolute as the kernel would, with the links that the command made itself. */
export function resolvePath(path: string, cwd: string, world?: World): string {
  if (beginsUnknown(path)) return normalize(path);
  const absolute = path === '.' ? cwd : normalize(path.startsWith('/') ? path : `${cwd}/${path}`);
  if (!world || world.links.size === 0) return absolute;
  for (const folder of foldersAround(absolute)) {
    const target = world.links.get(folder);
    if (target !== undefined) return normalize(target + absolute.slice(folder.length));
  }
  return absolute;
}

export function* foldersAround(path: string): Generator<string> {
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) yield path.slice(0, at);
}

function beginsUnknown(path: string): boolean {
  return path.charCodeAt(0) >= 0xe000 && /^[\uE000-\uE002\uE005-\uE007]/.test(path);
}

function normalize(path: string): string {
  if (path.startsWith('/') && !/\/(\.{0,2})(\/|$)/.test(path)) return path;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return beginsUnknown(path) ? parts.join('/') || UNKNOWN : `/${parts.join('/')}`;
}

export function isInside(path: string, folder: string): boolean {
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder === '/' || path[folder.length] === '/';
}
