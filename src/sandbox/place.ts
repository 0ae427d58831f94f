import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { stateFolder } from '../config/paths.ts';
import { RalphError } from '../core/error.ts';
import { lstatOf } from '../os/files/files.ts';
import { isWithin, realPath } from '../os/files/real-path.ts';
import { findWholeRepository, type GitFolders, gitFolders } from '../os/git/git.ts';
import { homeOf } from './folders.ts';
import type { SandboxSpec } from './sandbox.ts';

/** The project of a sandbox. */
export type Place = {
  readonly cwd: string;
  /** What is writable inside: the whole working copy. */
  readonly root: string;
  readonly home: string;
  /** The same for the same project, and unlike that of any other. */
  readonly name: string;
};

export function placeOf({ cwd, env }: Pick<SandboxSpec, 'cwd' | 'env'>): Place {
  const [here, home] = [realPath(cwd), homeOf(env)];
  // An agent that breaks its repository must not get the one around it the next time; and what is left of one somewhere
  // above says nothing about the folders beside ours.
  const repository = findWholeRepository(here);
  // Some keep their home, or all of it, under git: that is not the project.
  const root = repository === null || isWithin(home, repository) ? here : repository;
  for (const kept of [home, realPath(stateFolder(env))]) {
    if (!isWithin(kept, root)) continue;
    throw new RalphError(
      'sandbox-project',
      `${root} cannot be the project of a sandbox: all of it would be writable, and ${kept} is in it`,
      { remedy: 'cd to the folder of one project, or go without: --no-sandbox' },
    );
  }
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 8);
  const word = basename(root)
    .replace(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
    .slice(0, 40);
  return { cwd: here, root, home, name: `ralph-${word || 'project'}-${hash}` };
}

/** The repository of the project, not one around it: where git finds no other, it takes that. */
export async function gitOf({ cwd, root }: Place): Promise<GitFolders | null> {
  const git = await gitFolders(cwd);
  const isPointer = lstatOf(join(root, '.git'))?.isFile() === true;
  return git !== null && (isPointer || isWithin(git.gitDir, root)) ? git : null;
}

/** What is shown to a machine of its own, in its words: the project, its repository, and the paths of the user. */
export function workspacesOf(
  { root }: Place,
  git: GitFolders | null,
  paths: readonly string[] = [],
): string[] {
  const beside = git === null || isWithin(git.commonDir, root) ? [] : [git.commonDir];
  const more = paths.map((path) => (path.endsWith(':rw') ? path.slice(0, -3) : `${path}:ro`));
  return [root, ...beside, ...more];
}
