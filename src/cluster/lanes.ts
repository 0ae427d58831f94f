import type { IQueueBackend, Queue } from 'bullmq';
import type { Lane, LeaseTimes } from './store.ts';

/** A machine may crash often before anybody should give up on a loop. */
const maxStalledCount = 1_000_000;

/** A queue that may be on any database. */
type LaneQueue = Pick<Queue<{ loop: string }, string, string>, 'add' | 'remove' | 'getJob' | 'close'> & {
  getBackend(): IQueueBackend;
  on(event: 'error', listener: (error: Error) => void): unknown;
};

/** Options of a queue, and those of a worker: its backend needs them to take jobs. */
export function laneOptions({ leaseMs, checkMs }: LeaseTimes) {
  return {
    lockDuration: leaseMs,
    stalledInterval: checkMs,
    maxStalledCount,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 1000 } },
  };
}

/** A lane as a queue of BullMQ, whose jobs are taken and finished by hand. */
export function openLane(queue: LaneQueue, { leaseMs }: LeaseTimes): Lane & { close(): Promise<void> } {
  // Every call tells of its own failure; without a listener this would end the process.
  queue.on('error', () => {});
  const backend = (): IQueueBackend => queue.getBackend();

  return {
    async add(id) {
      await queue.add(id, { loop: id }, { jobId: jobId(id) });
    },
    async has(id) {
      return (await backend().getState(jobId(id))) !== 'unknown';
    },
    async take(token, host) {
      const [data, id] = await backend().moveToActive(token, host);
      if (!data || typeof id !== 'string') return null;
      return { id: data.name, addedAt: Number(data.timestamp) };
    },
    async renew(id, token) {
      return (await backend().extendLock(jobId(id), token, leaseMs)) > 0;
    },
    async putBack(id, token, until) {
      const now = Date.now();
      if (until === null || until <= now) await backend().moveJobFromActiveToWait(jobId(id), token);
      else await backend().moveToDelayed(jobId(id), now, until - now, token, { skipAttempt: true });
    },
    async drop(id, token) {
      const job = await queue.getJob(jobId(id));
      await job?.moveToCompleted('over', token, false);
    },
    async remove(id) {
      await queue.remove(jobId(id));
    },
    async wake(id) {
      await backend().promote(jobId(id));
    },
    async rescue() {
      await backend().moveStalledJobsToWait();
    },
    close: () => queue.close(),
  };
}

/** BullMQ refuses ids that look like numbers. */
function jobId(id: string): string {
  return `loop-${id}`;
}
