import { join } from 'node:path';
import type { Stop } from '../fleet/end-loop.ts';
import { whyText } from '../fleet/why.ts';
import { makeRepository } from './checkout.ts';
import type { Cluster, ClusterView } from './cluster.ts';
import type { Places } from './places.ts';
import { fetchBranch } from './remote.ts';
import { type IterationCommit, iterationCommits } from './trailers.ts';

/** Result of comparing the counters of a loop with its branch. */
export type Reconciled =
  | { readonly kind: 'right'; readonly iterations: number }
  | { readonly kind: 'changed'; readonly before: number; readonly iterations: number }
  /** The loop had ended before the store was lost; `text` says how. */
  | { readonly kind: 'over'; readonly iterations: number; readonly text: string }
  | { readonly kind: 'held'; readonly host: string }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Corrects the counters of a loop by the iterations on its branch. With `storeWasLost`, the loop was submitted anew, and
 * the iterations of the submission before count, too.
 */
export async function reconcile(
  cluster: Cluster,
  places: Places,
  view: ClusterView,
  storeWasLost: boolean,
): Promise<Reconciled> {
  const { name, repo, branch } = view;
  if (view.host !== null) return { kind: 'held', host: view.host };
  const base = (await cluster.order(name))?.source?.base ?? null;
  const repository = places.repository(repo);
  const problem = await makeRepository(repository);
  if (problem !== null) return { kind: 'unreadable', why: problem };
  const remote = await fetchBranch(repository, { repo, branch, base }, join('refs/ralph/reconcile', name));
  if (remote.kind === 'unreachable' || remote.kind === 'missing')
    return { kind: 'unreadable', why: remote.why };
  const commits = remote.kind === 'found' ? await iterationCommits(repository, remote.commit, { name }) : [];
  const own = commits.filter(({ id }) => id === String(view.startedAt));
  const ownOrLast = own.length > 0 || !storeWasLost ? own : commits.filter(({ id }) => id === commits[0]?.id);
  const iterations = unbroken(ownOrLast);
  const last = ownOrLast.find(({ iteration }) => iteration === iterations);
  const stop = last === undefined ? null : stopIn(last);
  if (stop !== null && own.length === 0) {
    await cluster.recount(name, iterations, stop);
    const why = (await cluster.status(name))?.why ?? view.why;
    return { kind: 'over', iterations, text: whyText(why, why.since) };
  }
  // The end of a loop is booked by the machine that finds its last iteration on the branch.
  const count = stop === null ? iterations : iterations - 1;
  const hasChanged = await cluster.recount(name, count);
  return hasChanged
    ? { kind: 'changed', before: view.iteration, iterations: count }
    : { kind: 'right', iterations };
}

/** Returns how the loop ended after an iteration; null if it was to go on. */
function stopIn({ end: { decision, doneMatched } }: IterationCommit): Stop | null {
  if (decision) return decision.kind === 'stop' ? decision : null;
  const because = { code: 'claim-accepted', text: 'the done pattern matched' };
  return doneMatched ? { outcome: 'PROMISE_ACCEPTED', because } : null;
}

/** Returns the number of iterations without a gap. */
function unbroken(commits: readonly IterationCommit[]): number {
  const numbers = new Set(commits.map(({ iteration }) => iteration));
  let count = 0;
  while (numbers.has(count + 1)) count++;
  return count;
}
