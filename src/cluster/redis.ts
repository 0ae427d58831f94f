import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { ClusterAddress } from './address.ts';
import { checkMs, scripts } from './redis-scripts.ts';

/**
 * Small records by key. `loops` has one for each loop, `aside` those that nobody can read; `orders`, `tails` (the end of
 * the output) and `runStates` have one for each submission.
 */
export type Shelf = 'loops' | 'aside' | 'queues' | 'hosts' | 'fleet' | 'orders' | 'tails' | 'runStates';

/** Submissions that a change of a loop removes and adds, by their keys. */
type LoopChange = { readonly drop?: string; readonly add?: string; readonly order?: string };

export type SlotAnswer =
  | { readonly ok: true }
  /** `until` is the time of the next start; null if it waits for the end of another iteration. */
  | { readonly ok: false; readonly until: number | null };

export type LeaseTimes = {
  /** How long a machine may be silent before another takes its loops over. */
  readonly leaseMs: number;
  /** A call to the store fails after that time. */
  readonly callMs: number;
};

const prefix = 'ralph-fleet';
const keyOf = (shelf: Shelf) => `${prefix}:${shelf}`;
const listOf = (list: string) => `${prefix}:list:${list}`;

/** Longest mailbox, and how long a message waits for its reader. */
const mailbox = { maxLines: 100, seconds: 3600 } as const;
/** BullMQ never gives up on a loop because of crashes. */
const maxStalledCount = 1_000_000;

/** Opens the store of a cluster. Each call is atomic, and fails after some seconds if the server does not answer. */
export async function openRedis(address: ClusterAddress, times: LeaseTimes) {
  const redis = await connect(address, times);
  const queues = new Map<string, ReturnType<typeof openQueue>>();
  return {
    ...recordsIn(redis),
    ...submissionsIn(redis),
    ...slotsIn(redis, times.leaseMs),
    queue(name: string) {
      const queue = queues.get(name) ?? openQueue(redis, name, times.leaseMs);
      queues.set(name, queue);
      return queue;
    },
    async close(): Promise<void> {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}

async function connect(address: ClusterAddress, { leaseMs, callMs }: LeaseTimes): Promise<Redis> {
  const { host, port, database, user, password, tls } = address;
  const redis = new Redis({
    host,
    port,
    db: database,
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    ...(tls === null ? {} : { tls: tls.ca === null ? {} : { ca: tls.ca } }),
    maxRetriesPerRequest: 2,
    connectTimeout: 5000,
    commandTimeout: callMs,
    // A silent connection is replaced before a lease is over, but not while a link stalls for some seconds.
    socketTimeout: Math.max(callMs, 0.75 * leaseMs),
    keepAlive: 5000,
    // Only the caller can repeat a call that may have been carried out before the connection broke.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(100 * attempt, 1000),
    lazyConnect: true,
    scripts,
  });
  // The error of `connect` has no reason.
  let cause: Error | null = null;
  redis.on('error', (error) => {
    cause = error;
  });
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    redis.disconnect();
    throw cause ?? error;
  }
}

/** Small records by shelf and key. */
function recordsIn(redis: Redis) {
  async function swap(
    shelf: Shelf,
    key: string,
    texts: readonly [before: string | null, after: string | null],
    { drop = '', add = '', order = '' }: LoopChange = {},
  ): Promise<boolean> {
    const shelves = ([shelf, 'orders', 'tails', 'runStates'] as const).map(keyOf);
    const lists = [`log:${drop}`, `events:${drop}`].map(listOf);
    const words = [key, ...texts.map((text) => text ?? ''), drop, add, order];
    return (await run(redis, 'swap', ...shelves, ...lists, ...words)) === 1;
  }
  return {
    get: (shelf: Shelf, key: string) => redis.hget(keyOf(shelf), key),
    async all(shelf: Shelf): Promise<ReadonlyMap<string, string>> {
      return new Map(Object.entries(await redis.hgetall(keyOf(shelf))));
    },
    /** Writes `after` if the value still is `before`; null stands for no record. */
    swap: (shelf: Shelf, key: string, before: string | null, after: string | null) =>
      swap(shelf, key, [before, after]),
    /** The same for the record of a loop, together with what belongs to its submissions. */
    swapLoop: (name: string, before: string | null, after: string | null, change: LoopChange) =>
      swap('loops', name, [before, after], change),
  };
}

/** What belongs to one submission of a loop, by its key; and mailboxes. */
function submissionsIn(redis: Redis) {
  return {
    async put(shelf: 'tails' | 'runStates', key: string, text: string): Promise<void> {
      await run(redis, 'put', keyOf('orders'), keyOf(shelf), key, text);
    },
    /** Adds to a list and drops its oldest lines beyond `keep`. */
    async append(list: 'log' | 'events', key: string, lines: readonly string[], keep: number): Promise<void> {
      if (lines.length > 0)
        await run(redis, 'append', keyOf('orders'), listOf(`${list}:${key}`), key, keep, ...lines);
    },
    /** The newest lines, oldest first. */
    last: (list: 'log' | 'events', key: string, count: number) =>
      redis.lrange(listOf(`${list}:${key}`), -count, -1),
    async post(box: string, text: string): Promise<void> {
      const key = listOf(`mailbox:${box}`);
      await redis
        .multi()
        .rpush(key, text)
        .ltrim(key, -mailbox.maxLines, -1)
        .expire(key, mailbox.seconds)
        .exec();
    },
    /** Removes the oldest message and returns it. */
    take: (box: string) => redis.lpop(listOf(`mailbox:${box}`)),
  };
}

/** Slots that limit how many iterations run at the same time, and how many start in a minute. */
function slotsIn(redis: Redis, leaseMs: number) {
  const [slots, starts] = [`${prefix}:slots`, `${prefix}:starts`];
  return {
    /** Takes a slot, or starts again on one that it holds. A slot expires after the lease unless it is renewed. */
    async takeSlot(
      slot: string,
      start: string,
      { maxParallel, startsPerMinute }: Readonly<Record<'maxParallel' | 'startsPerMinute', number | null>>,
    ): Promise<SlotAnswer> {
      const words = [slot, start, maxParallel ?? -1, startsPerMinute ?? -1, leaseMs];
      const wait = Number(await run(redis, 'takeSlot', slots, starts, ...words));
      if (wait === 0) return { ok: true };
      return { ok: false, until: wait < 0 ? null : Date.now() + wait };
    },
    async keepSlot(slot: string): Promise<void> {
      await run(redis, 'keepSlot', slots, slot, leaseMs);
    },
    /** With `start`, also takes back that start: it never began. */
    async freeSlot(slot: string, start?: string): Promise<void> {
      const both = redis.multi().zrem(slots, slot);
      await (start === undefined ? both : both.zrem(starts, start)).exec();
    },
  };
}

/** Opens a queue of loops in BullMQ. A machine that takes a loop holds it as long as it renews the lease. */
function openQueue(redis: Redis, name: string, leaseMs: number) {
  // Options of a queue and of a worker: jobs are taken and finished by hand, and that needs both.
  const options = { lockDuration: leaseMs, stalledInterval: checkMs(leaseMs), maxStalledCount };
  const queue = new Queue<{ loop: string }, string, string>(name, {
    ...options,
    connection: redis,
    prefix: 'ralph-queue',
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 1000 } },
  });
  // Every call reports its own failure; without a listener the event would end the process.
  queue.on('error', () => {});
  const backend = () => queue.getBackend();

  return {
    /** Adds a loop, unless it is there. */
    async add(id: string): Promise<void> {
      await queue.add(id, { loop: id }, { jobId: jobId(id) });
    },
    /** Takes the first loop that is due. */
    async take(token: string, host: string): Promise<{ id: string; addedAt: number } | null> {
      const [data, id] = await backend().moveToActive(token, host);
      if (!data || typeof id !== 'string') return null;
      return { id: data.name, addedAt: Number(data.timestamp) };
    },
    async renew(id: string, token: string): Promise<boolean> {
      return (await backend().extendLock(jobId(id), token, leaseMs)) > 0;
    },
    /** Returns a loop to the queue, due at once or at a time. */
    async putBack(id: string, token: string, until: number | null): Promise<void> {
      const now = Date.now();
      if (until === null || until <= now) await backend().moveJobFromActiveToWait(jobId(id), token);
      else await backend().moveToDelayed(jobId(id), now, until - now, token, { skipAttempt: true });
    },
    /** Removes a loop that the caller holds. */
    async drop(id: string, token: string): Promise<void> {
      const job = await queue.getJob(jobId(id));
      await job?.moveToCompleted('over', token, false);
    },
    /** Removes a loop that nobody holds. */
    async remove(id: string): Promise<void> {
      await queue.remove(jobId(id));
    },
    /** Makes a delayed loop due now. */
    async wake(id: string): Promise<void> {
      await backend().promote(jobId(id));
    },
    /** Returns loops with an expired lease to the queue. */
    async rescue(): Promise<void> {
      await backend().moveStalledJobsToWait();
    },
    close: () => queue.close(),
  };
}

/** BullMQ refuses ids that look like numbers. */
function jobId(id: string): string {
  return `loop-${id}`;
}

function run(
  redis: Redis,
  script: keyof typeof scripts,
  ...words: readonly (string | number)[]
): Promise<unknown> {
  return Reflect.apply(Reflect.get(redis, script), redis, words);
}
