import type { Store } from '../../src/cluster/store.ts';

type Job = {
  readonly id: string;
  readonly addedAt: number;
  due: number;
  lock: { token: string; until: number } | null;
};
type LoopQueue = ReturnType<Store['queue']>;

/** A store in memory, on any clock, for a simulation. */
export function memoryStore(leaseMs: number, now: () => number): Store {
  const records = new Map<string, Map<string, string>>();
  const lists = new Map<string, string[]>();
  const slots = new Map<string, number>();
  const starts = new Map<string, number>();
  const queues = new Map<string, LoopQueue>();
  const shelfOf = (shelf: string) => entryOf(records, shelf, () => new Map<string, string>());
  const swap = (shelf: string, key: string, before: string | null, after: string | null) => {
    if ((shelfOf(shelf).get(key) ?? null) !== before) return false;
    if (after === null) shelfOf(shelf).delete(key);
    else shelfOf(shelf).set(key, after);
    return true;
  };
  const isKept = (key: string) => shelfOf('orders').has(key);

  return {
    get: async (shelf, key) => shelfOf(shelf).get(key) ?? null,
    all: async (shelf) => new Map(shelfOf(shelf)),
    swap: async (shelf, key, before, after) => swap(shelf, key, before, after),
    async swapLoop(name, before, after, { drop, add, order = '' }) {
      if (!swap('loops', name, before, after)) return false;
      if (drop !== undefined) {
        for (const one of ['orders', 'tails', 'runStates']) shelfOf(one).delete(drop);
        for (const list of ['log', 'events']) lists.delete(`${list}:${drop}`);
      }
      if (add !== undefined) shelfOf('orders').set(add, order);
      return true;
    },
    async put(shelf, key, text) {
      if (isKept(key)) shelfOf(shelf).set(key, text);
    },
    async append(list, key, lines, keep) {
      if (!isKept(key)) return;
      const all = entryOf(lists, `${list}:${key}`, () => []);
      all.push(...lines);
      all.splice(0, all.length - keep);
    },
    last: async (list, key, count) => (lists.get(`${list}:${key}`) ?? []).slice(-count),
    async post(box, text) {
      entryOf(lists, `mailbox:${box}`, () => []).push(text);
    },
    take: async (box) => lists.get(`mailbox:${box}`)?.shift() ?? null,
    async takeSlot(slot, start, { maxParallel: max, startsPerMinute: perMinute }) {
      for (const [one, until] of slots) if (until <= now()) slots.delete(one);
      for (const [one, at] of starts) if (at <= now() - 60_000) starts.delete(one);
      if (max !== null && slots.size - (slots.has(slot) ? 1 : 0) >= max) return { ok: false, until: null };
      if (perMinute !== null && starts.size >= perMinute)
        return { ok: false, until: Math.min(...starts.values()) + 60_000 };
      slots.set(slot, now() + leaseMs);
      starts.set(start, now());
      return { ok: true };
    },
    async keepSlot(slot) {
      if (slots.has(slot)) slots.set(slot, now() + leaseMs);
    },
    async freeSlot(slot, start) {
      slots.delete(slot);
      if (start !== undefined) starts.delete(start);
    },
    queue: (name) => entryOf(queues, name, () => memoryQueue(leaseMs, now)),
    async close() {},
  };
}

/** A queue as BullMQ has it: delayed jobs come back at its end, those that are given back or whose lock is over at its front. */
function memoryQueue(leaseMs: number, now: () => number): LoopQueue {
  const waiting: Job[] = [];
  const delayed = new Map<string, Job>();
  const active = new Map<string, Job>();
  const ids = new Set<string>();

  /** Takes a job from its holder. */
  function release(id: string, token: string): Job {
    const job = active.get(id);
    if (job?.lock?.token !== token || job.lock.until <= now()) throw new Error(`Missing lock for job ${id}`);
    active.delete(id);
    job.lock = null;
    return job;
  }

  return {
    async add(id) {
      if (!ids.has(id)) waiting.push({ id, addedAt: now(), due: 0, lock: null });
      ids.add(id);
    },
    async take(token) {
      for (const job of [...delayed.values()].filter(({ due }) => due <= now())) {
        delayed.delete(job.id);
        waiting.push(job);
      }
      const job = waiting.shift();
      if (job === undefined) return null;
      job.lock = { token, until: now() + leaseMs };
      active.set(job.id, job);
      return { id: job.id, addedAt: job.addedAt };
    },
    async renew(id, token) {
      const lock = active.get(id)?.lock;
      if (lock?.token !== token || lock.until <= now()) return false;
      lock.until = now() + leaseMs;
      return true;
    },
    async putBack(id, token, until) {
      const job = release(id, token);
      if (until === null || until <= now()) waiting.unshift(job);
      else delayed.set(id, Object.assign(job, { due: until }));
    },
    async drop(id, token) {
      release(id, token);
      ids.delete(id);
    },
    async remove(id) {
      if (active.has(id)) throw new Error(`Job ${id} could not be removed because it is locked`);
      ids.delete(id);
      delayed.delete(id);
      const at = waiting.findIndex((job) => job.id === id);
      if (at >= 0) waiting.splice(at, 1);
    },
    async wake(id) {
      const job = delayed.get(id);
      if (job === undefined) throw new Error(`Job ${id} is not in the delayed state`);
      delayed.delete(id);
      waiting.push(job);
    },
    async rescue() {
      for (const [id, job] of active) {
        if ((job.lock?.until ?? 0) > now()) continue;
        active.delete(id);
        waiting.unshift(job);
      }
    },
    async close() {},
  };
}

function entryOf<T>(map: Map<string, T>, key: string, create: () => T): T {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const value = create();
  map.set(key, value);
  return value;
}
