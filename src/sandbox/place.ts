import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { stateFolder } from '../config/paths.ts';
import { RalphError } from '../core/error.ts';
import { sha256 } from '../os/crypto.ts';
import { lstatOf } from '../os/files/files.ts';
import { isWithin, realPath } from '../os/files/real-path.ts';
import { findWholeRepository, type GitFolders, gitFolders } from '../os/git/git.ts';
import { type Environment, runCommand } from '../os/process/process.ts';
import { homeOf } from './folders.ts';
import type { SandboxSpec } from './sandbox.ts';

export type Place = Readonly<ReturnType<typeof placeOf>>;

/** Returns the project: `root` is the top of the working copy, which is writable inside; `name` is unique to it. */
export function placeOf({ cwd, env }: Pick<SandboxSpec, 'cwd' | 'env'>) {
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

const includeKey = /^include(?:if\..*)?\.path$/is;

/** Returns the files that git's configuration includes, also those that do not exist yet. */
export async function includedSettings(root: string, env: Environment): Promise<string[]> {
  const words = ['git', 'config', '--list', '--includes', '--show-origin', '-z'] as const;
  const { stdout } = await runCommand(words, { cwd: root, env });
  const fields = stdout.split('\0');
  const paths = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [origin = '', entry = ''] = fields.slice(at, at + 2);
    if (!origin.startsWith('file:')) continue;
    const file = resolve(root, origin.slice('file:'.length));
    const key = entry.split('\n', 1)[0] ?? '';
    paths.add(file);
    if (includeKey.test(key)) paths.add(resolve(dirname(file), inHome(entry.slice(key.length + 1), env)));
  }
  return [...paths].map((path) => join(realPath(dirname(path)), path.slice(dirname(path).length)));
}

function inHome(path: string, env: Environment): string {
  return path.startsWith('~/') && !isAbsolute(path) ? join(homeOf(env), path.slice(2)) : path;
}
