import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { ClusterAddress } from './address.ts';
import { openQueues } from './queue.ts';
import { type LeaseTimes, type Lists, type Records, type Slots, type Store, slotAnswer } from './store.ts';

const prefix = 'ralph-fleet';

/** Current time of the server: the clocks of machines differ. */
const serverNow = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

const scripts = {
  swap: {
    numberOfKeys: 1,
    lua: `
local found = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] == '0' then if found then return 0 end
elseif found ~= ARGV[3] then return 0 end
if ARGV[4] == '0' then redis.call('HDEL', KEYS[1], ARGV[1])
else redis.call('HSET', KEYS[1], ARGV[1], ARGV[5]) end
return 1`,
  },
  // Sorted sets: slots by the end of their lease, starts by their time.
  takeSlot: {
    numberOfKeys: 2,
    lua: `${serverNow}
local slot, start, max, rate, lease = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 60000)
local others = redis.call('ZCARD', KEYS[1])
if redis.call('ZSCORE', KEYS[1], slot) then others = others - 1 end
if max >= 0 and others >= max then return -1 end
if rate >= 0 and redis.call('ZCARD', KEYS[2]) >= rate then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  local wait = oldest[2] and oldest[2] + 60000 - now or 60000
  return math.max(1, wait)
end
redis.call('ZADD', KEYS[1], now + lease, slot)
redis.call('ZADD', KEYS[2], now, start)
return 0`,
  },
  keepSlot: {
    numberOfKeys: 1,
    lua: `${serverNow}
return redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])`,
  },
} as const;

/** A store on Redis or Valkey. */
export async function openRedisStore(address: ClusterAddress, times: LeaseTimes): Promise<Store> {
  const redis = await connect(address, times);
  const queues = openQueues(
    times,
    (name, options) => new Queue(name, { ...options, connection: redis, prefix: 'ralph-queue' }),
    () => redis.disconnect(),
  );
  return { ...recordsIn(redis), ...listsIn(redis), ...slotsIn(redis), ...queues };
}

async function connect(address: ClusterAddress, { leaseMs, callMs }: LeaseTimes): Promise<Redis> {
  const redis = new Redis({
    maxRetriesPerRequest: 2,
    connectTimeout: 5000,
    commandTimeout: callMs,
    // A silent connection is replaced before a lease is over, but not while a link stalls for some seconds.
    socketTimeout: Math.max(callMs, 0.75 * leaseMs),
    keepAlive: 5000,
    // Only the caller can repeat a call that may have been carried out before the connection broke.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(100 * attempt, 1000),
    ...connectionOf(address),
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

function recordsIn(redis: Redis): Records {
  const keyOf = (shelf: string) => `${prefix}:${shelf}`;
  return {
    get: (shelf, key) => redis.hget(keyOf(shelf), key),
    all: async (shelf) => new Map(Object.entries(await redis.hgetall(keyOf(shelf)))),
    keys: (shelf) => redis.hkeys(keyOf(shelf)),
    async swap(shelf, key, before, after) {
      const words = [before === null ? '0' : '1', before ?? '', after === null ? '0' : '1', after ?? ''];
      return (await run(redis, 'swap', keyOf(shelf), key, ...words)) === 1;
    },
  };
}

function listsIn(redis: Redis): Lists {
  const start = `${prefix}:list:`;
  return {
    async append(list, lines, keep) {
      if (lines.length === 0) return;
      const key = `${start}${list}`;
      await redis
        .multi()
        .rpush(key, ...lines)
        .ltrim(key, -keep, -1)
        .exec();
    },
    last: (list, count) => redis.lrange(`${start}${list}`, -count, -1),
    takeFirst: (list) => redis.lpop(`${start}${list}`),
    async clear(list) {
      await redis.del(`${start}${list}`);
    },
    async lists() {
      const lists = new Set<string>();
      for (let cursor = '0'; ; ) {
        const [next, names] = await redis.scan(cursor, 'MATCH', `${start}*`, 'COUNT', 1000);
        for (const name of names) lists.add(name.slice(start.length));
        if (next === '0') return [...lists];
        cursor = next;
      }
    },
  };
}

function slotsIn(redis: Redis): Slots {
  const [slots, starts] = [`${prefix}:slots`, `${prefix}:starts`];
  return {
    async takeSlot(slot, start, { max, perMinute, leaseMs }) {
      const words = [slot, start, max ?? -1, perMinute ?? -1, leaseMs];
      return slotAnswer(Number(await run(redis, 'takeSlot', slots, starts, ...words)));
    },
    async keepSlot(slot, leaseMs) {
      await run(redis, 'keepSlot', slots, slot, leaseMs);
    },
    async freeSlot(slot, start) {
      const both = redis.multi().zrem(slots, slot);
      await (start === undefined ? both : both.zrem(starts, start)).exec();
    },
  };
}

function run(
  redis: Redis,
  script: keyof typeof scripts,
  ...words: readonly (string | number)[]
): Promise<unknown> {
  return Reflect.apply(Reflect.get(redis, script), redis, words);
}

function connectionOf({ host, port, database, user, password, tls }: ClusterAddress) {
  return {
    host,
    port,
    db: Number(database),
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    ...(tls === null ? {} : { tls: tls.ca === null ? {} : { ca: tls.ca } }),
  };
}
