import { type BackendFactory, type IQueueBackend, Job, Queue } from 'bullmq';
import type { Lane, LeaseTimes } from './store.ts';

/** A machine may crash often before anybody should give up on a loop. */
const maxStalledCount = 1_000_000;

/** A lane as a queue of BullMQ, whose jobs are taken and finished by hand. */
export function openLane(
  name: string,
  connection: object,
  backendFactory: BackendFactory,
  { leaseMs, checkMs }: LeaseTimes,
  prefix: string,
): Lane & { close(): Promise<void> } {
  // A queue takes the options of a worker along: its backend needs them to take jobs.
  const options = {
    connection,
    prefix,
    lockDuration: leaseMs,
    stalledInterval: checkMs,
    maxStalledCount,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 1000 } },
  };
  const queue = new Queue(name, options, backendFactory);
  // Every call tells of its own failure; without a listener this would end the process.
  queue.on('error', () => {});
  const backend = (): IQueueBackend => queue.getBackend();
  const jobOf = (id: string) => Job.fromId(queue, jobId(id));

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
      const job = await jobOf(id);
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
