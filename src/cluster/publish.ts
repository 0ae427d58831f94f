import type { TurnEnd } from '../fleet/iteration-end.ts';
import { runGit } from '../os/git/git.ts';
import { type Checkout, removeLocks, standOn } from './checkout.ts';
import { commitTree, keepCommit, remoteRef, takeWork, treeOf } from './keep-work.ts';
import type { LoopJob } from './orders.ts';
import { type Pushed, pushBranch } from './remote.ts';
import { commitMessage, partMessage, posesAsLoopCommit } from './trailers.ts';

export type CommitResult = {
  /** Null if there is nothing to push. */
  readonly commit: string | null;
  /** Ref that keeps work which is not on the branch. */
  readonly keptRef: string | null;
  readonly warnings: readonly string[];
};

/**
 * Commits the work of an iteration. If a usage limit cut it, the iteration runs again, so that its work is committed
 * without the trailers of an end.
 */
export async function commitWork(
  checkout: Checkout,
  job: LoopJob,
  iteration: number,
  end: TurnEnd,
): Promise<CommitResult> {
  const { repository, path, start } = checkout;
  await removeLocks(checkout, job);
  const work = await takeWork(path);
  if (work === null) throw new Error('the worktree cannot be read any more');
  const problem = await historyProblem(checkout, work.head, job);
  const trailers = { loop: job.name, id: job.id, iteration, end };
  const parent = problem === null ? work.head : start;
  const keptRef = problem === null ? null : await keepCommit(repository, job.name, work.head);
  const warnings = [work.warning, problem].flatMap((text) => text ?? []);
  const isPart = end.decision ? end.decision.iterations < iteration : end.how === 'limited';
  const isNothing = parent === start && work.tree === (await treeOf(repository, start));
  if (isPart && isNothing) return { commit: null, keptRef, warnings };

  const message = isPart ? partMessage(trailers) : commitMessage(trailers);
  const commit = await commitTree(repository, work.tree, parent, message);
  const failure = await standOn(path, job.branch, commit);
  if (failure !== null) throw new Error(`the worktree cannot go on: ${failure}`);
  return { commit, keptRef, warnings };
}

/** Pushes a commit if the branch has not moved since. Returns the checkout after it. */
export async function pushWork(
  checkout: Checkout,
  job: LoopJob,
  commit: string,
): Promise<{ readonly pushed: Pushed; readonly checkout: Checkout }> {
  const { repository, remote } = checkout;
  const pushed = await pushBranch(repository, job, remote, commit);
  if (pushed.kind !== 'pushed') return { pushed, checkout };
  await runGit(repository, ['update-ref', remoteRef(job.name), commit]);
  return { pushed, checkout: { ...checkout, remote: commit, start: commit } };
}

/** Returns why the agent's commits cannot be pushed; null if they extend the branch and none looks like ours. */
async function historyProblem(
  { repository, start }: Checkout,
  head: string,
  job: LoopJob,
): Promise<string | null> {
  if (start === head) return null;
  const above = await runGit(repository, ['merge-base', '--is-ancestor', start, head]);
  if (above.exitCode !== 0)
    return 'the agent rewrote the history: its work is one commit on top of what was there';
  const own = await runGit(repository, ['log', '-z', '--format=%B', `${start}..${head}`]);
  const isPosing = own.stdout.split('\0').some((message) => posesAsLoopCommit(message, job));
  return isPosing ? 'commits of the agent looked like those of the loop: its work is one commit' : null;
}
