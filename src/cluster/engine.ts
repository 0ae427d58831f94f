import { pauseStep, resumeStep, stopStep } from '../fleet/control.ts';
import { endBy, endStep } from '../fleet/end-loop.ts';
import type { LoopRecord, LoopStep } from '../store/fleet-loops.ts';
import { createChores } from './chores.ts';
import { finish, letGo, quietly, renew, takeNext } from './claims.ts';
import type { Claimant, Cluster, Controlled } from './cluster.ts';
import { isCurrent, isOver, readEntry, updateEntry, viewOf } from './entries.ts';
import { createSightings, drainHosts, isDraining, registerHost } from './hosts.ts';
import { updateLimits } from './limits.ts';
import { reportNews, storable } from './report.ts';
import type { Engine, LeaseTimes, Store } from './store.ts';
import { forgetLoop, submitLoop } from './submit.ts';
import { clusterViews } from './views.ts';

const boxKeep = 100;
const nobody: Claimant = { host: 'unknown', labels: [] };

/** The fleet over a store: its loops are records, and lanes say who may run them. */
export function clusterFleet(store: Store, { leaseMs, checkMs }: LeaseTimes, now: () => number): Cluster {
  const engine: Engine = { store, leaseMs, now };
  const chores = createChores(engine, checkMs);
  const seen = createSightings(engine);
  let asked: Claimant | null = null;

  async function control(
    name: string,
    step: (loop: LoopRecord, at: number) => LoopStep | null,
  ): Promise<Controlled> {
    const taken = await updateEntry(store, name, ({ loop }) => step(loop, now()));
    return { changed: taken?.changed ?? false, view: taken === null ? null : viewOf(taken.after) };
  }

  /** What nobody holds is taken out of its lane, so that nobody comes upon it. */
  async function takeOut(name: string): Promise<void> {
    const entry = await readEntry(store, name);
    if (entry?.holder === null) await quietly(() => store.lane(entry.lane).remove(name));
  }

  return {
    ...clusterViews(engine),
    submit: (order) => submitLoop(engine, order),
    async claim(by = nobody) {
      await chores();
      asked = by;
      await seen(by);
      if (await isDraining(store, by.host)) return null;
      return takeNext(engine, by);
    },
    async heartbeat(claim) {
      // A machine whose slots are all taken asks for nothing, but is there.
      if (asked !== null) await seen(asked);
      return renew(engine, claim);
    },
    finishIteration: (claim, end) => finish(engine, claim, end),
    async giveBack(claim) {
      const step = await updateEntry(store, claim.name, (entry) => {
        if (!isCurrent(entry, claim)) return null;
        const why = isOver(entry) ? {} : { why: { state: 'queued', since: now() } as const };
        return { change: { launch: entry.loop.launch + 1, ...why }, entry: { holder: null } };
      });
      if (step?.changed && step.before.holder) await letGo(engine, step.after, step.before.holder.lock);
    },
    async pause(name) {
      const done = await control(name, (loop, at) => pauseStep(loop, at, 'manual'));
      if (done.changed) await takeOut(name);
      return done;
    },
    async resume(name) {
      const entry = await readEntry(store, name);
      if (entry?.loop.status !== 'paused') return control(name, () => null);
      const lane = store.lane(entry.lane);
      await lane.add(name);
      const done = await control(name, resumeStep);
      await quietly(() => lane.wake(name));
      return done;
    },
    async cancel(name) {
      const done = await control(name, stopStep);
      if (done.changed) await takeOut(name);
      return done;
    },
    async setLimits(change) {
      await updateLimits(store, () => ({
        ...change,
        ...(change.maxCostUsd === undefined ? {} : { spentUsd: 0 }),
      }));
    },
    releaseAccount: (account) =>
      updateLimits(store, ({ holds }) => {
        const { [account]: held, ...others } = holds;
        return held === undefined ? null : { holds: others };
      }),
    report: (claim, news) => reportNews(store, claim, news),
    register: (by, id) => registerHost(engine, by, id),
    drain: (host, on) => drainHosts(store, host, on),
    async recount(name, iterations, stop) {
      const step = await updateEntry(store, name, ({ loop, holder }) => {
        if (holder !== null) return null;
        if (stop !== undefined) return endStep({ ...loop, iteration: iterations }, endBy(stop, loop), now());
        if (loop.iteration === iterations && loop.ended === iterations) return null;
        const text = `counted anew: ${iterations} iterations are on the branch`;
        return {
          change: { iteration: iterations, ended: iterations },
          events: [{ at: now(), type: 'iteration.ended', text, iteration: iterations }],
        };
      });
      if (stop !== undefined) await takeOut(name);
      return step?.changed ?? false;
    },
    forget: (name) => forgetLoop(store, name),
    post: (box, text) => store.append(`box:${box}`, [storable(text)], boxKeep),
    take: (box) => store.takeFirst(`box:${box}`),
    close: () => store.close(),
  };
}
