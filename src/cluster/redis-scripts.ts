/** Current time of the server: the clocks of machines differ. */
const serverNow = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Returns the interval of the look for expired leases. */
export const checkMs = (leaseMs: number) => Math.ceil(leaseMs / 15);

/** What has to happen in one step, for Redis to run. */
export const scripts = {
  /**
   * Swaps a record; an empty text stands for none. With keys of submissions, stores the order of the new one and removes
   * all of the old one.
   */
  swap: {
    numberOfKeys: 6,
    lua: `
local key, before, after, drop, add, order = unpack(ARGV)
if (redis.call('HGET', KEYS[1], key) or '') ~= before then return 0 end
if after == '' then redis.call('HDEL', KEYS[1], key) else redis.call('HSET', KEYS[1], key, after) end
if drop ~= '' then
  for shelf = 2, 4 do redis.call('HDEL', KEYS[shelf], drop) end
  redis.call('DEL', KEYS[5], KEYS[6])
end
if add ~= '' then redis.call('HSET', KEYS[2], add, order) end
return 1`,
  },
  // What belongs to a submission is stored only as long as its order is: nothing of a removed one comes back.
  put: {
    numberOfKeys: 2,
    lua: `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end`,
  },
  append: {
    numberOfKeys: 2,
    lua: `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return end
redis.call('RPUSH', KEYS[2], unpack(ARGV, 3))
redis.call('LTRIM', KEYS[2], -ARGV[2], -1)`,
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
