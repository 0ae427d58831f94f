import { hostname } from 'node:os';
import { hashText } from '../core/hash.ts';
import { headCommit, lookWithGit, runGit } from '../os/git/git.ts';
import type { Environment } from '../os/process/process.ts';
import type { LoopJob } from './cluster.ts';

/** Everything but the files that ralph itself writes into a project. */
const workOnly = [
  '--',
  ':/',
  ':(exclude,top,glob)**/.ralph/**',
  ':(exclude,top,glob)**/.ralph-active',
  ':(exclude,top,glob)**/ralph/logs/**',
];
const addMs = 15 * 60_000;

type Tree = { readonly repository: string; readonly path: string };

/** The work in a worktree as a commit, for whatever is to be made of it. */
export type Work = {
  readonly head: string;
  /** All that is in the folder now, as a tree. */
  readonly tree: string;
  /** Why git could not add some of the files. */
  readonly warning: string | null;
};

/** Takes all that is in the worktree into the index. Null where git cannot read it. */
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

/** Keeps what is in a worktree and not on its branch under a ref of the clone. Null where there is nothing of that kind. */
export async function keepWork(
  { repository, path }: Tree,
  { name, branch }: Pick<LoopJob, 'name' | 'branch'>,
  why: string,
): Promise<string | null> {
  const remote = await runGit(repository, ['rev-parse', '--verify', '--quiet', remoteRef(name)]);
  const work = await takeWork(path);
  if (work === null) return null;
  const { head, tree } = work;
  const treeOfHead = await runGit(path, ['rev-parse', `${head}^{tree}`]);
  const hasChanges = treeOfHead.stdout.trim() !== tree;
  const commit = hasChanges
    ? await commitTree(repository, tree, [head], `ralph: work on ${branch}, ${why}`)
    : head;
  // Without another commit than those on the branch, there is nothing to keep.
  const remotes = remote.exitCode === 0 ? [remote.stdout.trim()] : [];
  const ahead = await runGit(repository, ['rev-list', '--count', commit, '--not', ...remotes]);
  if (Number(ahead.stdout) === 0) return null;
  return keepCommit(repository, name, commit);
}

/** Where a clone notes what the branch of a loop is on the remote. */
export function remoteRef(name: string): string {
  return `refs/ralph/remote/${refWord(name)}`;
}

/** Git has its own ideas about dots in names. */
function refWord(name: string): string {
  return name.includes('.') ? `${name.replaceAll('.', '_')}-${hashText(name)}` : name;
}

/** Names a commit so that nothing takes it away. */
export async function keepCommit(repository: string, name: string, commit: string): Promise<string> {
  const ref = `refs/ralph/kept/${refWord(name)}/${commit.slice(0, 12)}`;
  await runGit(repository, ['update-ref', ref, commit]);
  return ref;
}

/** Makes a commit of a tree. No hook and no filter runs. */
export async function commitTree(
  repository: string,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const words = parents.flatMap((parent) => ['-p', parent]);
  const result = await runGit(
    repository,
    ['commit-tree', '--no-gpg-sign', ...words, '-m', message, tree],
    addMs,
    { env: await identity(repository) },
  );
  if (result.exitCode !== 0) throw new Error(`the commit cannot be made: ${result.stderr.trim()}`);
  return result.stdout.trim();
}

/** The machine's own where it has one. */
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
