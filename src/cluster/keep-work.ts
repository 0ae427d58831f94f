import { hostname } from 'node:os';
import { hashText } from '../core/hash.ts';
import { headCommit, lookWithGit, runGit } from '../os/git/git.ts';
import type { Environment } from '../os/process/process.ts';
import type { LoopJob } from './orders.ts';

/** Pathspec of everything but the files that ralph writes into a project. */
const workOnly = [
  '--',
  ':/',
  ':(exclude,top,glob)**/.ralph/**',
  ':(exclude,top,glob)**/.ralph-active',
  ':(exclude,top,glob)**/ralph/logs/**',
];
const addMs = 15 * 60_000;

type Tree = { readonly repository: string; readonly path: string };

/** Work in a worktree: its HEAD and the tree of its files. */
export type Work = {
  readonly head: string;
  /** Tree of all files in the folder. */
  readonly tree: string;
  /** Reason why git could not add some files. */
  readonly warning: string | null;
};

/** Adds everything in the worktree to the index. Null if git cannot read it. */
export async function takeWork(path: string): Promise<Work | null> {
  const addResult = await lookWithGit(path, ['add', '--all', '--ignore-errors', ...workOnly], addMs);
  const [head, tree] = await Promise.all([headCommit(path), runGit(path, ['write-tree'], addMs)]);
  if (head === null || tree.exitCode !== 0) return null;
  return {
    head,
    tree: tree.stdout.trim(),
    warning: addResult.exitCode === 0 ? null : (addResult.stderr.trim().split('\n')[0] ?? null),
  };
}

/** Keeps work that is not on the branch under a ref of the clone. Null if there is none. */
export async function keepWork(
  { repository, path }: Tree,
  { name, branch }: Pick<LoopJob, 'name' | 'branch'>,
  why: string,
): Promise<string | null> {
  const remote = await runGit(repository, ['rev-parse', '--verify', '--quiet', remoteRef(name)]);
  const work = await takeWork(path);
  if (work === null) return null;
  const { head, tree } = work;
  const commit =
    (await treeOf(path, head)) === tree
      ? head
      : await commitTree(repository, tree, head, `ralph: work on ${branch}, ${why}`);
  // Without another commit than those on the branch, there is nothing to keep.
  const remotes = remote.exitCode === 0 ? [remote.stdout.trim()] : [];
  const ahead = await runGit(repository, ['rev-list', '--count', commit, '--not', ...remotes]);
  if (Number(ahead.stdout) === 0) return null;
  return keepCommit(repository, name, commit);
}

export async function treeOf(repository: string, commit: string): Promise<string> {
  return (await runGit(repository, ['rev-parse', `${commit}^{tree}`])).stdout.trim();
}

/** Ref of a clone that records the remote state of a loop's branch. */
export function remoteRef(name: string): string {
  return `refs/ralph/remote/${refWord(name)}`;
}

/** Returns a loop name as a part of a ref: git restricts dots. */
function refWord(name: string): string {
  return name.includes('.') ? `${name.replaceAll('.', '_')}-${hashText(name)}` : name;
}

/** Keeps a commit under a ref, so that git never collects it. */
export async function keepCommit(repository: string, name: string, commit: string): Promise<string> {
  const ref = `refs/ralph/kept/${refWord(name)}/${commit.slice(0, 12)}`;
  await runGit(repository, ['update-ref', ref, commit]);
  return ref;
}

/** Makes a commit of a tree. No hook and no filter runs. */
export async function commitTree(
  repository: string,
  tree: string,
  parent: string,
  message: string,
): Promise<string> {
  const words = ['commit-tree', '--no-gpg-sign', '-p', parent, '-m', message, tree];
  const result = await runGit(repository, words, addMs, { env: await identity(repository) });
  if (result.exitCode !== 0) throw new Error(`the commit cannot be made: ${result.stderr.trim()}`);
  return result.stdout.trim();
}

/** Author of commits: that of the machine, else `ralph`. */
async function identity(repository: string): Promise<Environment> {
  const [name, email] = await Promise.all(
    ['user.name', 'user.email'].map((key) => runGit(repository, ['config', '--get', key])),
  );
  const own = name?.exitCode === 0 && email?.exitCode === 0;
  if (own || process.env.GIT_AUTHOR_EMAIL || process.env.GIT_COMMITTER_EMAIL) return {};
  const [who, mail] = ['ralph', `ralph@${hostname()}`];
  return {
    GIT_AUTHOR_NAME: who,
    GIT_AUTHOR_EMAIL: mail,
    GIT_COMMITTER_NAME: who,
    GIT_COMMITTER_EMAIL: mail,
  };
}
