import { createChores } from './chores.ts';
import { finish, letGo, renew, takeNext } from './claims.ts';
import type { Cluster } from './cluster.ts';
import { clusterControls } from './control.ts';
import { isCurrent, updateEntry } from './entries.ts';
import { type Claimant, createSightings, drainHosts, isDraining, registerHost } from './hosts.ts';
import { readLimits } from './limits.ts';
import { readQueues } from './queue-names.ts';
import { mailboxList } from './records.ts';
import { reportNews, storable } from './report.ts';
import { setbackStep } from './setback-step.ts';
import type { LeaseTimes, Store, TimedStore } from './store.ts';
import { forgetLoop, submitLoop } from './submit.ts';
import { clusterViews } from './views.ts';

const mailboxSize = 100;
const nobody: Claimant = { host: 'unknown', labels: [] };

/** Returns the fleet on a store: loops are records, and queues say who may run them. */
export function clusterFleet(
  store: Store,
  { leaseMs, checkMs }: Omit<LeaseTimes, 'callMs'>,
  now: () => number,
): Cluster {
  const timed: TimedStore = { store, leaseMs, now };
  const chores = createChores(timed, checkMs);
  const noteSighting = createSightings(timed);
  let lastClaimant: Claimant | null = null;

  return {
    ...clusterViews(timed),
    ...clusterControls(timed),
    submit: (order) => submitLoop(timed, order),
    async claim(by = nobody) {
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
    async heartbeat(claim) {
      // A machine without a free slot asks for nothing, but is alive. No renewal waits for that.
      if (lastClaimant !== null) void noteSighting(lastClaimant).catch(() => {});
      return renew(timed, claim);
    },
    finishIteration: (claim, end) => finish(timed, claim, end),
    async giveBack(claim, setback) {
      const step = await updateEntry(store, claim.name, (entry) =>
        isCurrent(entry, claim) ? setbackStep(entry, setback, now()) : null,
      );
      if (step?.changed && step.before.holder) await letGo(timed, step.after, step.before.holder.lock);
    },
    report: (claim, news) => reportNews(store, claim, news),
    register: (by, id) => registerHost(timed, by, id),
    drain: (host, on) => drainHosts(store, host, on),
    forget: (name) => forgetLoop(store, name),
    post: (mailbox, text) => store.append(mailboxList(mailbox), [storable(text)], mailboxSize),
    take: (mailbox) => store.takeFirst(mailboxList(mailbox)),
    close: () => store.close(),
  };
}
