import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { EngineAddress } from './address.ts';
import { laneOptions, openLane } from './lanes.ts';
import type { Lane, LeaseTimes, Store } from './store.ts';

const prefix = 'ralph-fleet';

/** Everything is timed by the clock of the server: those of the machines differ. */
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
  // Seats by the end of their lease, starts by their time.
  sit: {
    numberOfKeys: 2,
    lua: `${serverNow}
local seat, start, max, rate, lease = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 60000)
local others = redis.call('ZCARD', KEYS[1])
if redis.call('ZSCORE', KEYS[1], seat) then others = others - 1 end
if max >= 0 and others >= max then return { others, -1 } end
if rate >= 0 and redis.call('ZCARD', KEYS[2]) >= rate then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  local wait = oldest[2] and oldest[2] + 60000 - now or 60000
  return { others, math.max(1, wait) }
end
redis.call('ZADD', KEYS[1], now + lease, seat)
redis.call('ZADD', KEYS[2], now, start)
return { others, 0 }`,
  },
  keepSeat: {
    numberOfKeys: 1,
    lua: `${serverNow}
return redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])`,
  },
} as const;

/** A store on Redis or Valkey. */
export async function openRedisStore(address: EngineAddress, times: LeaseTimes): Promise<Store> {
  const redis = new Redis({
    // A call fails after some seconds instead of waiting for ever; whoever made it decides what that means.
    maxRetriesPerRequest: 2,
    connectTimeout: 5000,
    commandTimeout: 5000,
    socketTimeout: 5000,
    keepAlive: 5000,
    // What was sent before the connection broke may have been done: only the caller knows whether to do it again.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(100 * attempt, 1000),
    ...connectionOf(address),
    lazyConnect: true,
    scripts,
  });
  // What `connect` says is only that it failed.
  let why: Error | null = null;
  redis.on('error', (error) => {
    why = error;
  });
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw why ?? error;
  }
  const lanes = new Map<string, ReturnType<typeof openLane>>();
  const run = (script: keyof typeof scripts, ...words: (string | number)[]): Promise<unknown> =>
    Reflect.apply(Reflect.get(redis, script), redis, words);
  const shelfKey = (shelf: string) => `${prefix}:${shelf}`;
  const listKey = (list: string) => `${prefix}:list:${list}`;
  const [seats, starts] = [`${prefix}:seats`, `${prefix}:starts`];

  return {
    get: (shelf, key) => redis.hget(shelfKey(shelf), key),
    all: async (shelf) => new Map(Object.entries(await redis.hgetall(shelfKey(shelf)))),
    async swap(shelf, key, before, after) {
      const words = [before === null ? '0' : '1', before ?? '', after === null ? '0' : '1', after ?? ''];
      return (await run('swap', shelfKey(shelf), key, ...words)) === 1;
    },
    async append(list, lines, keep) {
      if (lines.length === 0) return;
      const key = listKey(list);
      await redis
        .multi()
        .rpush(key, ...lines)
        .ltrim(key, -keep, -1)
        .exec();
    },
    last: (list, count) => redis.lrange(listKey(list), -count, -1),
    takeFirst: (list) => redis.lpop(listKey(list)),
    async clear(list) {
      await redis.del(listKey(list));
    },
    keys: (shelf) => redis.hkeys(shelfKey(shelf)),
    async lists() {
      const start = listKey('');
      const found = new Set<string>();
      for (let cursor = '0'; ; ) {
        const [next, names] = await redis.scan(cursor, 'MATCH', `${start}*`, 'COUNT', 1000);
        for (const name of names) found.add(name.slice(start.length));
        if (next === '0') return [...found];
        cursor = next;
      }
    },
    async sit(seat, start, { max, perMinute, leaseMs }) {
      const answer = await run('sit', seats, starts, seat, start, max ?? -1, perMinute ?? -1, leaseMs);
      const [taken = 0, wait = 0] = Array.isArray(answer) ? answer.map(Number) : [];
      if (wait === 0) return { ok: true };
      return { ok: false, taken, until: wait < 0 ? null : Date.now() + wait };
    },
    async keepSeat(seat, leaseMs) {
      await run('keepSeat', seats, seat, leaseMs);
    },
    async stand(seat, start) {
      const both = redis.multi().zrem(seats, seat);
      await (start === undefined ? both : both.zrem(starts, start)).exec();
    },
    lane(name): Lane {
      const options = { ...laneOptions(times), connection: redis, prefix: 'ralph-lane' };
      const known = lanes.get(name) ?? openLane(new Queue(name, options), times);
      lanes.set(name, known);
      return known;
    },
    async close() {
      await Promise.all([...lanes.values()].map((lane) => lane.close()));
      redis.disconnect();
    },
  };
}

function connectionOf({ host, port, database, user, password, tls }: EngineAddress) {
  return {
    host,
    port,
    db: Number(database),
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    ...(tls === null ? {} : { tls: tls.ca === null ? {} : { ca: tls.ca } }),
  };
}
