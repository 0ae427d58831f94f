import { dirname, join } from 'node:path';
import { ensureDir, lstatOf, removeIfThere, setAside, writeAtomic } from '../os/files/files.ts';
import { headCommit, runGit } from '../os/git/git.ts';
import type { LoopJob } from './cluster.ts';
import { keepWork, remoteRef } from './keep-work.ts';
import type { Places } from './places.ts';
import { fetchBranch } from './remote.ts';
import { type IterationCommit, iterationCommits } from './trailers.ts';

/** The working copy of a loop on this machine, and what its branch was on the remote. */
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

export type CheckoutResult =
  | { readonly ok: true; readonly checkout: Checkout; readonly keptRef: string | null }
  /** `lasting`: no other try will do better, nor will another machine. */
  | { readonly ok: false; readonly why: string; readonly lasting: boolean };

const checkoutMs = 15 * 60_000;

/** Brings the worktree of a loop to what its branch is on the remote. Work of an earlier try is kept under a ref. */
export async function openCheckout(places: Places, job: LoopJob): Promise<CheckoutResult> {
  const repository = places.repository(job.repo);
  const path = places.worktree(job.name);
  const nameCheck = await runGit('/', ['check-ref-format', '--branch', job.branch]);
  if (nameCheck.exitCode !== 0) return failure(`${JSON.stringify(job.branch)} is no name for a branch`, true);
  const problemOfClone = await makeRepository(repository);
  if (problemOfClone !== null) return failure(problemOfClone, false);
  const branch = await fetchBranch(repository, job, remoteRef(job.name));
  if (branch.kind === 'unreachable') return failure(`${job.repo} cannot be read: ${branch.why}`, false);
  if (branch.kind === 'wrong') return failure(branch.why, true);
  const [remote, start] =
    branch.kind === 'found' ? [branch.commit, branch.commit] : ([null, branch.from] as const);
  await removeLocks({ repository, path }, job);
  const keptRef = (await isWorktree(path)) ? await keepWork({ repository, path }, job, 'left behind') : null;
  const problem = await checkOut(repository, path, job.branch, start);
  if (problem !== null) return failure(`the worktree cannot be made: ${problem}`, false);
  const commits = await iterationCommits(repository, start, job);
  return { ok: true, checkout: { repository, path, remote, start, commits }, keptRef };
}

/** Removes lock files that a killed git left, which would stop every git after it. Call it when no agent runs. */
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

/** Makes the bare clone where it is missing; says what is wrong where it cannot. */
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

/** Takes a worktree away; what was in it and on no branch has to be kept before. */
export async function removeCheckout({ repository, path }: Checkout): Promise<void> {
  await runGit(repository, ['worktree', 'remove', '--force', '--force', path], checkoutMs);
}

async function isWorktree(path: string): Promise<boolean> {
  return lstatOf(join(path, '.git')) !== null && (await headCommit(path)) !== null;
}

/** Files that git ignores stay: what was installed for the iterations before is still there. */
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
  // Half made, or not a worktree at all: set aside, since it may hold work.
  if (lstatOf(path) !== null) setAside(path);
  await runGit(repository, ['worktree', 'prune']);
  ensureDir(dirname(path));
  const words = ['worktree', 'add', '--quiet', '--force', '--detach', path, commit];
  const result = await runGit(repository, [...quiet, ...words], checkoutMs);
  return result.exitCode === 0 ? standOn(path, branch, commit) : result.stderr.trim();
}

/**
 * Puts a worktree on a branch at this commit, whatever it was on; its files stay as they are. A worktree of a loop that
 * is over may have the branch, too, which git itself would not allow.
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

/** No hook of the repository runs here. */
const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false'];

function failure(why: string, lasting: boolean): CheckoutResult {
  return { ok: false, why, lasting };
}
