import { join, resolve } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { lstatOf, readJson } from '../../system/files.ts';
import { findUp, linksIn, realPath } from '../../system/real-path.ts';
import type { Environment, GuardContext } from './model.ts';
import { isInside } from './paths.ts';
import { type GuardPolicy, readPolicy } from './policy.ts';
import { startFolders } from './start-folders.ts';

/** Everything that a judgement in this folder needs, from the disk and the environment. */
export function loadGuardContext(folder: string, env: Environment, unattended: boolean): GuardContext {
  const cwd = resolve(folder);
  const home = env.HOME || process.getBuiltinModule('node:os').homedir();
  const projectRoot = findProject(cwd, home, env);
  const policy = loadPolicy(projectRoot);
  return {
    cwd,
    home,
    projectRoot,
    unattended,
    env,
    realPath: realPathKeeping([projectRoot, home]),
    ...(policy ? { policy } : {}),
  };
}

/**
 * The working copy around the folder where the session was started, if this one is inside: a working copy within the
 * project, where the agent went, is no project of its own. A home that is itself a repository is no project.
 */
function findProject(cwd: string, home: string, env: Environment): string {
  const started = startFolders(env).find((folder) => isInside(cwd, folder) && !isInside(home, folder));
  const start = started ?? cwd;
  const found = findUp(start, ['.git', '.ralph']);
  return found === null || isInside(home, found) ? start : found;
}

/** Where a path leads, told from the folders as the user names them: /tmp may itself be a link. */
function realPathKeeping(roots: readonly string[]): (path: string) => string {
  const known = roots.map((root) => [root, realPath(root)] as const);
  const real = realPathOfMany();
  return (path) => {
    const full = real(path);
    const [root, realRoot] = known.find(([, folder]) => isInside(full, folder)) ?? [];
    return root === undefined || realRoot === undefined ? full : root + full.slice(realRoot.length);
  };
}

/** A command names many files of few folders. What is learned of a path holds until the judgement is over. */
function realPathOfMany(): (path: string) => string {
  const known = new Map<string, string>();
  const folders = new Map<string, { asked: number; links: ReadonlySet<string> | null }>();
  const find = (path: string): string => {
    // The paths of effects are those of Unix. To take them apart by hand costs a tenth.
    const at = path.lastIndexOf('/');
    const name = path.slice(at + 1);
    if (!path.startsWith('/') || name === '' || name === '.' || name === '..') return realPath(path);
    const folder = real(path.slice(0, at) || '/');
    const full = `${folder === '/' ? '' : folder}/${name}`;
    return isLink(folder, name, full) ? realPath(path) : full;
  };
  const isLink = (folder: string, name: string, full: string): boolean => {
    const about = folders.get(folder) ?? { asked: 0, links: null };
    folders.set(folder, about);
    // To list a folder takes as long as to look at some of its files.
    if (++about.asked === 16) about.links = linksIn(folder);
    return about.links?.has(name) ?? mayBeLink(full);
  };
  const forget = () => {
    known.clear();
    folders.clear();
  };
  const real = (path: string): string => {
    const before = known.get(path);
    if (before !== undefined) return before;
    // A judgement waits for nothing.
    if (known.size === 0) queueMicrotask(forget);
    const found = find(path);
    known.set(path, found);
    return found;
  };
  return real;
}

function mayBeLink(path: string): boolean {
  try {
    return lstatOf(path)?.isSymbolicLink() === true;
  } catch {
    return true;
  }
}

/**
 * The rules of the project, `.ralph/guard.json`. A file that cannot be understood is an error, never no rules; so is a
 * link, since what it leads to is not protected from the agent.
 */
function loadPolicy(projectRoot: string): GuardPolicy | null {
  const path = join(projectRoot, '.ralph', 'guard.json');
  // Most projects have none, and an error takes longer than a look.
  if (!lstatOf(path)) return null;
  const file = readJson(path, { root: projectRoot });
  const read = file.ok ? readPolicy(file.value) : { problems: [file.message] };
  if ('policy' in read) return read.policy;
  throw new RalphError('guard-policy', `.ralph/guard.json: ${read.problems.join('; ')}`, {
    remedy: 'ralph guard explain "ls", after the file is mended',
  });
}
