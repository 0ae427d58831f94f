import { join } from 'node:path';
import { lstatOf } from '../files/files.ts';
import { headCommit, runGit, runGitForUser } from './git.ts';
import { changedFiles } from './git-diff.ts';
import { treeState } from './tree-state.ts';

/** Compares the working copy with a commit or snapshot; null if git has none. `kept` would be overwritten. */
export async function planRestore(top: string, commit: string) {
  const [state, head, listing] = await Promise.all([
    treeState(top),
    headCommit(top),
    runGit(top, ['ls-files', '-z']),
  ]);
  const isThere = await runGit(top, ['cat-file', '-e', `${commit}^{tree}`]);
  if (state === null || isThere.exitCode !== 0) return null;
  const changes = await changedFiles(top, head, commit);
  const tracked = new Set(listing.stdout.split('\0'));
  // Git does not list ignored files as changes, but would write over them.
  const ignored = changes.filter((path) => !tracked.has(path) && lstatOf(join(top, path)) !== null);
  return { changes, kept: [...new Set([...state.files.keys(), ...ignored])] };
}

/** Brings these files to a commit or snapshot. Index, branch and hooks stay out of it. Returns git's error or null. */
export async function restoreFiles(
  top: string,
  commit: string,
  paths: readonly string[],
): Promise<string | null> {
  const words = ['--literal-pathspecs', 'restore', '--worktree', '--no-overlay', `--source=${commit}`];
  const list = ['--pathspec-from-file=-', '--pathspec-file-nul'];
  const result = await runGitForUser(top, [...words, ...list], undefined, paths.join('\0'));
  return result.exitCode === 0 ? null : result.stderr.trim();
}
