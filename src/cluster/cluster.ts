import type { IterationEnd } from '../fleet/iteration-end.ts';
import { createChores } from './chores.ts';
import { finish, letGo, renew, takeNext } from './claims.ts';
import { clusterControls } from './control.ts';
import { type Claim, isCurrent, updateEntry, type viewOf } from './entries.ts';
import { type Claimant, createSightings, drainHosts, isDraining, registerHost } from './hosts.ts';
import { readLimits } from './limits.ts';
import { type News, storeNews } from './news.ts';
import type { LoopOrder } from './orders.ts';
import { readQueues } from './queues.ts';
import { type Setback, setbackStep } from './setback.ts';
import type { Store, TimedStore } from './store.ts';
import { forgetLoop, submitLoop } from './submit.ts';
import { clusterViews } from './views.ts';

/** A loop of a cluster for the views: its record, and where it is. */
export type ClusterView = ReturnType<typeof viewOf>;

export type Cluster = ReturnType<typeof createCluster>;

const nobody: Claimant = { host: 'unknown', labels: [] };

/**
 * Returns the fleet over many machines. Any process may make any call at any time; each is atomic. Loops are records in
 * the store, and queues say who may run them.
 */
export function createCluster(store: Store, leaseMs: number, now: () => number) {
  const timed: TimedStore = { store, leaseMs, now };
  const chores = createChores(timed);
  const noteSighting = createSightings(timed);
  let lastClaimant: Claimant | null = null;

  return {
    ...clusterViews(timed),
    ...clusterControls(timed),
    /** False if a loop of that name has not ended. */
    submit: (order: LoopOrder) => submitLoop(timed, order),
    /** Claims the next iteration that is due, not paused and within the limits; null if there is none. */
    async claim(by = nobody): Promise<Claim | null> {
      lastClaimant = by;
      const [limits, queues, draining] = await Promise.all([
        readLimits(store),
        readQueues(store),
        isDraining(store, by.host),
        noteSighting(by),
        chores(),
      ]);
      return draining ? null : takeNext(timed, by, limits, queues);
    },
    /** Renews the lease and says what to do. Any process may call it for the one that runs the iteration. */
    heartbeat(claim: Claim) {
      // A machine without a free slot asks for nothing, but is alive. No renewal waits for that.
      if (lastClaimant !== null) void noteSighting(lastClaimant).catch(() => {});
      return renew(timed, claim);
    },
    /** Books the end of an iteration once, however often it is called. */
    finishIteration: (claim: Claim, end: IterationEnd) => finish(timed, claim, end),
    /** Gives an unfinished iteration back; the next claim runs it again. */
    async giveBack(claim: Claim, setback?: Setback): Promise<void> {
      const step = await updateEntry(store, claim.name, (entry) =>
        isCurrent(entry, claim) ? setbackStep(entry, setback, now()) : null,
      );
      if (step?.changed && step.before.holder) await letGo(timed, step.after, step.before.holder.lock);
    },
    /** Stores a report; only its events if another machine has the loop by now. */
    report: (claim: Claim, news: News) => storeNews(store, claim, news),
    /** Returns a name for a machine: its own, or a numbered one if another live machine has that. */
    register: (by: Claimant, id: string) => registerHost(timed, by, id),
    /** Lets machines drain (null: all): they get no work, and their loops move on after the iteration. */
    drain: (host: string | null, on: boolean) => drainHosts(store, host, on),
    /** Removes a loop that is over from the list. */
    forget: (name: string) => forgetLoop(store, name),
    /** Puts a message into a mailbox; `take` removes the oldest. */
    post: store.post,
    take: store.take,
    close: () => store.close(),
  };
}
