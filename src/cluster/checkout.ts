import { dirname, join } from 'node:path';
import { ensureDir, lstatOf, removeIfThere, setAside, writeAtomic } from '../os/files/files.ts';
import { headCommit, runGit } from '../os/git/git.ts';
import { keepWork, remoteRef } from './keep-work.ts';
import type { LoopJob } from './orders.ts';
import type { Places } from './places.ts';
import { fetchBranch } from './remote.ts';
import { isFaultOfMachine, type Setback } from './setback.ts';
import { type IterationCommit, iterationCommits } from './trailers.ts';

/** Working copy of a loop on this machine, and its branch on the remote. */
export type Checkout = {
  /** The bare clone. */
  readonly repository: string;
  readonly path: string;
  /** The commit of the branch on the remote; null if it is not there yet. */
  readonly remote: string | null;
  /** The commit that the next iteration goes on from. */
  readonly start: string;
  /** The iterations that are on the branch already. */
  readonly commits: readonly IterationCommit[];
};

const checkoutMs = 15 * 60_000;

/** Brings the worktree of a loop to the remote state of its branch. Keeps work of an earlier try under a ref. */
export async function openCheckout(
  places: Places,
  job: LoopJob,
): Promise<{ readonly checkout: Checkout; readonly keptRef: string | null } | Setback> {
  const repository = places.repository(job.repo);
  const path = places.worktree(job.name);
  const problemOfClone = await makeRepository(repository);
  if (problemOfClone !== null) return failure(problemOfClone);
  const branch = await fetchBranch(repository, job, remoteRef(job.name));
  if (branch.kind === 'unreachable') return failure(`${job.repo} cannot be read: ${branch.why}`);
  if (branch.kind === 'missing') return failure(branch.why, 'missing');
  const [remote, start] =
    branch.kind === 'found' ? [branch.commit, branch.commit] : ([null, branch.from] as const);
  await removeLocks({ repository, path }, job);
  const keptRef = (await isWorktree(path)) ? await keepWork({ repository, path }, job, 'left behind') : null;
  const problem = await checkOut(repository, path, job.branch, start);
  if (problem !== null) return failure(`the worktree cannot be made: ${problem}`);
  const commits = await iterationCommits(repository, start, job);
  return { checkout: { repository, path, remote, start, commits }, keptRef };
}

/** Removes the lock files of a killed git, which would stop every later git. Call it only while no agent runs. */
export async function removeLocks(
  { repository, path }: Pick<Checkout, 'repository' | 'path'>,
  { branch }: Pick<LoopJob, 'branch'>,
): Promise<void> {
  if (lstatOf(join(path, '.git')) === null) return;
  const own = (await runGit(path, ['rev-parse', '--absolute-git-dir'])).stdout.trim();
  if (own === '') return;
  for (const lock of ['index.lock', 'HEAD.lock']) removeIfThere(join(own, lock));
  removeIfThere(join(repository, 'refs/heads', `${branch}.lock`));
}

/** Makes the bare clone if it is missing. Returns the problem; null if there is none. */
export async function makeRepository(repository: string): Promise<string | null> {
  if (lstatOf(join(repository, 'commondir')) !== null) return null;
  ensureDir(repository);
  // A collection in the background would outlive us. The file says what is so without it: a sandbox would put one there
  // for as long as an agent runs, and the other loops of this clone would see it go.
  for (const words of [
    ['init', '--quiet', '--bare'],
    ['config', 'gc.auto', '0'],
  ]) {
    const result = await runGit(repository, words);
    if (result.exitCode !== 0) return `the clone cannot be made: ${result.stderr.trim()}`;
  }
  ensureDir(join(repository, 'worktrees'));
  writeAtomic(join(repository, 'commondir'), '.\n');
  return null;
}

/** Removes a worktree. Call `keepWork` first. */
export async function removeCheckout({ repository, path }: Checkout): Promise<void> {
  await runGit(repository, ['worktree', 'remove', '--force', '--force', path], checkoutMs);
}

async function isWorktree(path: string): Promise<boolean> {
  return lstatOf(join(path, '.git')) !== null && (await headCommit(path)) !== null;
}

/** Checks out a commit. Ignored files stay, such as installed packages. */
async function checkOut(
  repository: string,
  path: string,
  branch: string,
  commit: string,
): Promise<string | null> {
  if (await isWorktree(path)) {
    const words = ['checkout', '--quiet', '--force', '--detach', commit];
    const out = await runGit(path, [...quiet, ...words], checkoutMs);
    const cleaned = await runGit(path, ['clean', '--quiet', '-fd', '-e', '.ralph'], checkoutMs);
    if (out.exitCode === 0 && cleaned.exitCode === 0) return standOn(path, branch, commit);
  }
  // An incomplete worktree may hold work.
  if (lstatOf(path) !== null) setAside(path);
  await runGit(repository, ['worktree', 'prune']);
  ensureDir(dirname(path));
  const words = ['worktree', 'add', '--quiet', '--force', '--detach', path, commit];
  const result = await runGit(repository, [...quiet, ...words], checkoutMs);
  return result.exitCode === 0 ? standOn(path, branch, commit) : result.stderr.trim();
}

/**
 * Points a worktree at a branch at this commit without touching its files. Unlike `git switch`, works if the worktree
 * of an ended loop still has the branch.
 */
export async function standOn(path: string, branch: string, commit: string): Promise<string | null> {
  for (const words of [
    ['update-ref', `refs/heads/${branch}`, commit],
    ['symbolic-ref', 'HEAD', `refs/heads/${branch}`],
  ]) {
    const result = await runGit(path, words);
    if (result.exitCode !== 0) return result.stderr.trim();
  }
  return null;
}

/** Keeps hooks of the repository from running. */
const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false'];

function failure(why: string, kind: Setback['kind'] = 'unprepared'): Setback {
  return { kind: isFaultOfMachine(why) ? 'machine' : kind, why };
}
