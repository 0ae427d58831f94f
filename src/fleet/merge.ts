import { join } from 'node:path';
import { RalphError } from '../core/error.ts';
import { lstatOf } from '../os/files/files.ts';
import { committedOnly, currentBranch, runGit } from '../os/git/git.ts';
import type { WorktreePlace } from './files/workers.ts';
import { hasBranch } from './worktrees.ts';

export type Merge =
  | { readonly kind: 'up-to-date'; readonly into: string }
  | {
      readonly kind: 'fast-forward' | 'merge-commit';
      readonly into: string;
      readonly commits: number;
      readonly commit: string;
      /** Untracked files of the worktree, which are not merged. */
      readonly untracked: number;
    };

/** Files of an unfinished merge or rebase of the user. */
const unfinished = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

/**
 * Merges a worker's branch into the branch that its repository has checked out. Looks for obstacles before it touches
 * the working copy.
 */
export async function mergeWorktree(name: string, place: WorktreePlace): Promise<Merge> {
  const repo = place.base_repo;
  const into = await targetBranch(repo, place);
  const untracked = await refuseUnready(name, place);
  const theirs = `refs/heads/${place.branch}`;
  const commits = Number(await ask(repo, ['rev-list', '--count', `HEAD..${theirs}`]));
  if (commits === 0) return { kind: 'up-to-date', into };
  const canForward = (await runGit(repo, ['merge-base', '--is-ancestor', 'HEAD', theirs])).exitCode === 0;
  if (!canForward) await refuseConflicts(repo, place);
  const message = `Merge the work of ${name} (branch ${place.branch})`;
  const how = canForward ? ['--ff-only'] : ['--no-ff', '--no-edit', '-m', message];
  const merge = await runGit(repo, ['merge', '--quiet', ...how, theirs], 10 * 60_000);
  if (merge.exitCode !== 0) {
    await runGit(repo, ['merge', '--abort']);
    throw refusal(`git refuses the merge, and nothing was changed: ${oneLine(merge.stderr || merge.stdout)}`);
  }
  const commit = await ask(repo, ['rev-parse', '--short', 'HEAD']);
  return { kind: canForward ? 'fast-forward' : 'merge-commit', into, commits, commit, untracked };
}

async function targetBranch(repo: string, { branch }: WorktreePlace): Promise<string> {
  const into = await currentBranch(repo);
  if (into === null)
    throw refusal(`${repo} has no branch checked out to merge into`, `git -C '${repo}' switch main`);
  if (into === branch) throw refusal(`${repo} has the branch ${branch} itself checked out`);
  const gitDir = await ask(repo, ['rev-parse', '--absolute-git-dir']);
  if (unfinished.some((file) => lstatOf(join(gitDir, file)) !== null))
    throw refusal(`${repo} is in the middle of a merge or a rebase`, `git -C '${repo}' status`);
  const { tracked } = await changedFiles(repo);
  if (tracked.length === 0) return into;
  throw refusal(
    `${repo} has uncommitted changes (${some(tracked)}); a merge could mix with them`,
    `git -C '${repo}' stash`,
  );
}

/** Throws if a merge would leave out uncommitted changes. Returns the number of untracked files. */
async function refuseUnready(name: string, place: WorktreePlace): Promise<number> {
  if (!(await hasBranch(place))) throw refusal(`the branch ${place.branch} of '${name}' is gone`);
  if (lstatOf(place.path) === null) return 0;
  const { tracked, untracked } = await changedFiles(place.path);
  if (tracked.length === 0) return untracked.length;
  throw refusal(
    `'${name}' has uncommitted changes (${some(tracked)}), which would be left out`,
    `git -C '${place.path}' commit -a`,
  );
}

/** Throws if there are conflicts. Merges in memory (git 2.38); with an older git, the merge itself fails. */
async function refuseConflicts(repo: string, { branch }: WorktreePlace): Promise<void> {
  const tree = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z'];
  const { exitCode, stdout } = await runGit(repo, [...tree, 'HEAD', `refs/heads/${branch}`]);
  if (exitCode !== 1) return;
  const [, ...files] = stdout.split('\0').filter(Boolean);
  throw refusal(
    `${branch} conflicts in ${some([...new Set(files)])}; nothing was changed`,
    `let the worker merge the main branch into its own, or do it by hand: git -C '${repo}' merge ${branch}`,
  );
}

async function changedFiles(cwd: string): Promise<{ tracked: string[]; untracked: string[] }> {
  const { stdout } = await runGit(cwd, ['status', '--porcelain', '-z', '--no-renames', committedOnly]);
  const entries = stdout.split('\0').filter(Boolean);
  const names = (untracked: boolean) =>
    entries.filter((entry) => entry.startsWith('??') === untracked).map((entry) => entry.slice(3));
  return { tracked: names(false), untracked: names(true) };
}

async function ask(cwd: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runGit(cwd, args);
  if (exitCode !== 0) throw refusal(`git ${args[0]} failed in ${cwd}: ${oneLine(stderr)}`);
  return stdout.trim();
}

function some(files: readonly string[]): string {
  const firstNames = files.slice(0, 3).join(', ');
  return files.length > 3 ? `${firstNames} and ${files.length - 3} more` : firstNames;
}

function oneLine(text: string): string {
  return text.trim().split('\n').filter(Boolean).slice(0, 3).join('; ');
}

function refusal(message: string, remedy?: string): RalphError {
  return new RalphError('merge', message, { exitCode: 1, remedy });
}
