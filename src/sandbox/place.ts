import { basename, join } from 'node:path';
import { stateFolder } from '../config/paths.ts';
import { RalphError } from '../core/error.ts';
import { sha256 } from '../os/crypto.ts';
import { lstatOf } from '../os/files/files.ts';
import { isWithin, realPath } from '../os/files/real-path.ts';
import { findWholeRepository, type GitFolders, gitFolders } from '../os/git/git.ts';
import { homeOf } from './folders.ts';
import type { SandboxSpec } from './sandbox.ts';

/** The project of a sandbox. */
export type Place = {
  readonly cwd: string;
  /** Top of the working copy, which is writable inside. */
  readonly root: string;
  readonly home: string;
  /** Unique to the project. */
  readonly name: string;
};

export function placeOf({ cwd, env }: Pick<SandboxSpec, 'cwd' | 'env'>): Place {
  const [here, home] = [realPath(cwd), homeOf(env)];
  // An agent that breaks its repository must not get the one around it the next time, nor the remains of one above.
  const repository = findWholeRepository(here);
  // A home that is under git is not the project.
  const root = repository === null || isWithin(home, repository) ? here : repository;
  for (const folder of [home, realPath(stateFolder(env))]) {
    if (!isWithin(folder, root)) continue;
    throw new RalphError(
      'sandbox-project',
      `${root} cannot be the project of a sandbox: all of it would be writable, and ${folder} is in it`,
      { remedy: 'cd to the folder of one project, or go without: --no-sandbox' },
    );
  }
  const hash = sha256(root).slice(0, 8);
  const word = basename(root)
    .replace(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
    .slice(0, 40);
  return { cwd: here, root, home, name: `ralph-${word || 'project'}-${hash}` };
}

/** Returns the repository of the project; null where git would take one around it. */
export async function gitOf({ cwd, root }: Place): Promise<GitFolders | null> {
  const git = await gitFolders(cwd);
  const isPointer = lstatOf(join(root, '.git'))?.isFile() === true;
  return git !== null && (isPointer || isWithin(git.gitDir, root)) ? git : null;
}

/** Returns what a machine of its own is shown: the project, its repository, and the user's paths. */
export function pathsToShow(
  { root }: Place,
  git: GitFolders | null,
  paths: readonly string[] = [],
): string[] {
  const repository = git === null || isWithin(git.commonDir, root) ? [] : [git.commonDir];
  const more = paths.map((path) => (path.endsWith(':rw') ? path.slice(0, -3) : `${path}:ro`));
  return [root, ...repository, ...more];
}
