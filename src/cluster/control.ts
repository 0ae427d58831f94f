import { pauseStep, resumeStep, stopStep } from '../fleet/control.ts';
import { endBy, endStep } from '../fleet/end-loop.ts';
import type { LoopRecord } from '../fleet/files/loops.ts';
import { quietly } from './claims.ts';
import type { Cluster, Controlled } from './cluster.ts';
import { type EntryStep, readEntry, updateEntry, viewOf } from './entries.ts';
import { updateLimits } from './limits.ts';
import { noSetbacks } from './setback.ts';
import type { Store, TimedStore } from './store.ts';

type Controls = Pick<Cluster, 'pause' | 'resume' | 'cancel' | 'recount' | 'setLimits' | 'releaseAccount'>;

/** Returns the calls by which people change a cluster. */
export function clusterControls({ store, now }: TimedStore): Controls {
  async function control(
    name: string,
    step: (loop: LoopRecord, at: number) => EntryStep | null,
  ): Promise<Controlled> {
    const update = await updateEntry(store, name, ({ loop }) => step(loop, now()));
    return { changed: update?.changed ?? false, view: update === null ? null : viewOf(update.after) };
  }

  /** Pauses or ends a loop and takes it out of its queue. */
  async function halt(name: string, step: typeof stopStep): Promise<Controlled> {
    const result = await control(name, step);
    if (result.changed) await leaveQueue(store, name);
    return result;
  }

  return {
    pause: (name) => halt(name, (loop, at) => pauseStep(loop, at, 'manual')),
    async resume(name) {
      const entry = await readEntry(store, name);
      if (entry?.loop.status !== 'paused') return control(name, () => null);
      const queue = store.queue(entry.queue);
      await queue.add(name);
      const result = await control(name, (loop, at) => {
        const step = resumeStep(loop, at);
        return step && { ...step, entry: { setbacks: noSetbacks } };
      });
      await quietly(() => queue.wake(name));
      return result;
    },
    cancel: (name) => halt(name, stopStep),
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
      if (stop !== undefined) await leaveQueue(store, name);
      return step?.changed ?? false;
    },
    async setLimits(change) {
      await updateLimits(store, () => ({
        ...change,
        ...(change.maxCostUsd === undefined ? {} : { spentUsd: 0 }),
      }));
    },
    releaseAccount: (account) =>
      updateLimits(store, ({ holds }) => {
        const { [account]: until, ...others } = holds;
        return until === undefined ? null : { holds: others };
      }),
  };
}

/** Takes a loop that nobody holds out of its queue. */
async function leaveQueue(store: Store, name: string): Promise<void> {
  const entry = await readEntry(store, name);
  if (entry?.holder === null) await quietly(() => store.queue(entry.queue).remove(name));
}
