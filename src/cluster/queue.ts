import type { IQueueBackend, Queue } from 'bullmq';
import type { LeaseTimes, LoopQueue, Store } from './store.ts';

/** BullMQ never gives up on a loop because of crashes. */
const maxStalledCount = 1_000_000;

/** A queue that may be on any database. */
type BullQueue = Pick<Queue<{ loop: string }, string, string>, 'add' | 'remove' | 'getJob' | 'close'> & {
  getBackend(): IQueueBackend;
  on(event: 'error', listener: (error: Error) => void): unknown;
};

/** Returns the queues of a store, each opened at its first use. Calls `onClosed` after all are closed. */
export function openQueues(
  times: LeaseTimes,
  create: (name: string, options: ReturnType<typeof queueOptions>) => BullQueue,
  onClosed: () => unknown,
): Pick<Store, 'queue' | 'close'> {
  const queues = new Map<string, ReturnType<typeof openQueue>>();
  return {
    queue(name) {
      const queue = queues.get(name) ?? openQueue(create(name, queueOptions(times)), times);
      queues.set(name, queue);
      return queue;
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await onClosed();
    },
  };
}

/** Options of a queue and of a worker: the backend needs both to take jobs. */
function queueOptions({ leaseMs, checkMs }: LeaseTimes) {
  return {
    lockDuration: leaseMs,
    stalledInterval: checkMs,
    maxStalledCount,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 1000 } },
  };
}

/** Opens a queue of loops in BullMQ. Its jobs are taken and finished by hand. */
function openQueue(queue: BullQueue, { leaseMs }: LeaseTimes): LoopQueue & { close(): Promise<void> } {
  // Every call reports its own failure; without a listener the event would end the process.
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
