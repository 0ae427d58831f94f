import { pauseStep, resumeStep, stopStep } from '../fleet/control.ts';
import { endBy, endStep, type Stop } from '../fleet/end-loop.ts';
import type { LoopRecord } from '../fleet/files/loops.ts';
import { quietly } from './claims.ts';
import { type EntryStep, noSetbacks, readEntry, updateEntry } from './entries.ts';
import { type ClusterLimits, updateLimits } from './limits.ts';
import type { Store, TimedStore } from './store.ts';

type LimitChange = Partial<Pick<ClusterLimits, 'maxParallel' | 'startsPerMinute' | 'maxCostUsd'>>;

/** Returns the calls by which people change a cluster. They return false if nothing had to change. */
export function clusterControls({ store, now }: TimedStore) {
  async function control(name: string, step: (loop: LoopRecord) => EntryStep | null): Promise<boolean> {
    return (await updateEntry(store, name, ({ loop }) => step(loop)))?.changed ?? false;
  }

  /** Pauses or ends a loop and takes it out of its queue. */
  async function halt(name: string, step: (loop: LoopRecord) => EntryStep | null): Promise<boolean> {
    const hasChanged = await control(name, step);
    if (hasChanged) await leaveQueue(store, name);
    return hasChanged;
  }

  return {
    /** Lets the running iteration end and starts no further one. */
    pause: (name: string) => halt(name, (loop) => pauseStep(loop, now(), 'manual')),
    async resume(name: string): Promise<boolean> {
      const entry = await readEntry(store, name);
      if (entry?.loop.status !== 'paused') return false;
      const queue = store.queue(entry.queue);
      await queue.add(name);
      const hasChanged = await control(name, (loop) => {
        const step = resumeStep(loop, now());
        return step && { ...step, entry: { setbacks: noSetbacks } };
      });
      await quietly(() => queue.wake(name));
      return hasChanged;
    },
    /** Ends the loop now, and its agent with the next heartbeat. */
    cancel: (name: string) => halt(name, (loop) => stopStep(loop, now())),
    /** Corrects the counters, and ends the loop if `stop` is given; false if it is running or unknown. */
    async recount(name: string, iterations: number, stop?: Stop): Promise<boolean> {
      const step = await updateEntry(store, name, ({ loop, holder }) =>
        holder === null ? recountStep(loop, iterations, stop, now()) : null,
      );
      if (stop !== undefined) await leaveQueue(store, name);
      return step?.changed ?? false;
    },
    async setLimits(change: LimitChange): Promise<void> {
      await updateLimits(store, () => ({
        ...change,
        ...(change.maxCostUsd === undefined ? {} : { spentUsd: 0 }),
      }));
    },
    /** False if the account was not held. */
    releaseAccount: (account: string) =>
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

function recountStep(
  loop: LoopRecord,
  iterations: number,
  stop: Stop | undefined,
  at: number,
): EntryStep | null {
  if (stop !== undefined) return endStep({ ...loop, iteration: iterations }, endBy(stop, loop), at);
  if (loop.iteration === iterations && loop.ended === iterations) return null;
  const text = `counted anew: ${iterations} iterations are on the branch`;
  return {
    change: { iteration: iterations, ended: iterations },
    events: [{ at, type: 'iteration.ended', text, iteration: iterations }],
  };
}
