import { randomUUID } from 'node:crypto';
import { pauseStep, resumeStep, stopStep } from '../fleet/control.ts';
import { accountOf } from '../fleet/limits.ts';
import type { Claimant, Controlled, LoopOrder } from '../fleet/port.ts';
import { newRecord } from '../fleet/record.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import type { LoopRecord, LoopStep } from '../store/fleet-loops.ts';
import { type Engine, finish, letGo, quietly, renew, takeNext } from './claims.ts';
import type { Cluster, News } from './cluster.ts';
import {
  type Entry,
  isCurrent,
  isOver,
  parseEntry,
  readEntry,
  tell,
  updateEntry,
  viewOf,
} from './entries.ts';
import { ensureLane, laneFor, readLanes } from './lane-names.ts';
import {
  type HostRecord,
  holdAccount,
  isDraining,
  readHosts,
  readLimits,
  updateHost,
  updateLimits,
} from './limits.ts';
import type { LeaseTimes, Store } from './store.ts';

const tailChars = 64 * 1024;
const seenEveryMs = 10_000;
/** A machine is gone after this many leases, and not before it could have been seen some times. */
const goneLeases = 5;
const goneAtLeastMs = 3 * seenEveryMs;
const forgetHostMs = 24 * 60 * 60 * 1000;
/** How often somebody looks for loops that no lane knows, and from what age. */
const mendEveryMs = 60_000;
const mendAtOnce = 100;
const boxKeep = 100;
const nobody: Claimant = { host: 'unknown', labels: [] };

/** When this process does what has to be done now and then, and for whom it asked for work last. */
type Due = { rescue: number; mend: number; readonly seen: Map<string, number>; by: Claimant | null };

/** The fleet over a store: its loops are records, and lanes say who may run them. */
export function clusterFleet(store: Store, { leaseMs, checkMs }: LeaseTimes, now: () => number): Cluster {
  const engine: Engine = { store, leaseMs, now };
  const due: Due = { rescue: 0, mend: 0, seen: new Map(), by: null };

  async function submit(order: LoopOrder): Promise<boolean> {
    const { name } = order;
    const text = await store.get('loops', name);
    const before = text === null ? null : parseEntry(text);
    if (before !== null && !isOver(before)) return false;
    const account = accountOf(order.command, order.env, order.options.account);
    const lane = laneFor(account, order.labels ?? []);
    const key = `${name}:${randomUUID()}`;
    const entry = entryFor(order, {
      key,
      account,
      lane: lane.name,
      at: now(),
      launch: before?.loop.launch ?? 0,
    });
    // Under a key of its own: of several at once, the entry says whose order counts.
    await store.swap('orders', key, null, JSON.stringify(order));
    await ensureLane(store, lane);
    // First its place in the lane: whoever finds it there waits for the rest, and nobody looks for a place that is missing.
    await store.lane(lane.name).add(name);
    if (!(await store.swap('loops', name, text, JSON.stringify(entry)))) {
      await dropRecords(store, key);
      await leaveLane(name, lane.name);
      return false;
    }
    if (before !== null) await dropRecords(store, before.key);
    await tell(store, key, { events: [{ at: now(), type: 'spawned', text: 'submitted' }] });
    return true;
  }

  /** Another was faster: where its loop does not wait in this lane, nothing stays there. */
  async function leaveLane(name: string, lane: string): Promise<void> {
    const winner = await readEntry(store, name);
    if (winner !== null && (winner.lane !== lane || isOver(winner))) {
      await quietly(() => store.lane(lane).remove(name));
    }
  }

  async function control(
    name: string,
    step: (loop: LoopRecord, at: number) => LoopStep | null,
  ): Promise<Controlled> {
    const taken = await updateEntry(store, name, ({ loop }) => step(loop, now()));
    return { changed: taken?.changed ?? false, view: taken === null ? null : viewOf(taken.after) };
  }

  /** What nobody holds is taken out of its lane, so that nobody comes upon it. */
  async function takeOut(name: string): Promise<void> {
    const entry = await readEntry(store, name);
    if (entry?.holder === null) await quietly(() => store.lane(entry.lane).remove(name));
  }

  async function chores(): Promise<void> {
    if (now() < due.rescue) return;
    due.rescue = now() + checkMs;
    for (const { name } of await readLanes(store)) await store.lane(name).rescue();
    if (now() < due.mend) return;
    due.mend = now() + mendEveryMs;
    // One of all machines is enough.
    const last = await store.get('fleet', 'mended');
    if (now() - Number(last ?? 0) < mendEveryMs) return;
    if (!(await store.swap('fleet', 'mended', last, String(now())))) return;
    await mend();
    await forgetHosts();
  }

  /** A crash between two writes may leave a loop that no lane knows. */
  async function mend(): Promise<void> {
    const old = (await loops()).filter(
      ({ loop }) => loop.status === 'running' && now() - loop.why.since >= mendEveryMs,
    );
    for (let at = 0; at < old.length; at += mendAtOnce) {
      await Promise.all(
        old.slice(at, at + mendAtOnce).map(async ({ lane, loop }) => {
          if (!(await store.lane(lane).has(loop.name))) await store.lane(lane).add(loop.name);
        }),
      );
    }
  }

  /** That a machine drains is somebody's word, which stays. */
  async function forgetHosts(): Promise<void> {
    const isOld = ({ draining, seenAt }: HostRecord) => !draining && now() - seenAt > forgetHostMs;
    for (const [host, record] of await readHosts(store)) {
      if (isOld(record)) await updateHost(store, host, (newest) => (newest && isOld(newest) ? null : newest));
    }
  }

  const isGone = ({ seenAt }: HostRecord) => now() - seenAt > Math.max(goneAtLeastMs, goneLeases * leaseMs);

  async function register({ host, labels }: Claimant, id: string): Promise<string> {
    for (let count = 1; ; count++) {
      const name = count === 1 ? host : `${host}-${count}`;
      let isOurs = false;
      await updateHost(store, name, (record) => {
        isOurs = record === null || record.id === null || record.id === id || isGone(record);
        return isOurs ? { draining: record?.draining ?? false, labels, seenAt: now(), id } : record;
      });
      if (isOurs) return name;
    }
  }

  async function seen({ host, labels }: Claimant): Promise<void> {
    if (now() < (due.seen.get(host) ?? 0)) return;
    due.seen.set(host, now() + seenEveryMs);
    await updateHost(store, host, (record) => ({
      draining: record?.draining ?? false,
      labels,
      seenAt: now(),
      id: record?.id ?? null,
    }));
  }

  async function lastLines(list: 'events' | 'log', name: string, count: number): Promise<string[]> {
    const entry = await readEntry(store, name);
    return entry === null ? [] : store.last(`${list}:${entry.key}`, count);
  }

  const loops = async (): Promise<Entry[]> =>
    [...(await store.all('loops')).values()].flatMap((text) => parseEntry(text) ?? []);

  return {
    submit,
    async claim(by = nobody) {
      await chores();
      due.by = by;
      await seen(by);
      if (await isDraining(store, by.host)) return null;
      return takeNext(engine, by);
    },
    async heartbeat(claim) {
      // A machine whose slots are all taken asks for nothing, but is there.
      if (due.by !== null) await seen(due.by);
      return renew(engine, claim);
    },
    finishIteration: (claim, end) => finish(engine, claim, end),
    async giveBack(claim) {
      const step = await updateEntry(store, claim.name, (entry) => {
        if (!isCurrent(entry, claim)) return null;
        const why = isOver(entry) ? {} : { why: { state: 'queued', since: now() } as const };
        return { change: { launch: entry.loop.launch + 1, ...why }, entry: { holder: null } };
      });
      if (step?.changed && step.before.holder) await letGo(engine, step.after, step.before.holder.lock);
    },
    async pause(name) {
      const done = await control(name, (loop, at) => pauseStep(loop, at, 'manual'));
      if (done.changed) await takeOut(name);
      return done;
    },
    async resume(name) {
      const entry = await readEntry(store, name);
      if (entry?.loop.status !== 'paused') return control(name, () => null);
      const lane = store.lane(entry.lane);
      await lane.add(name);
      const done = await control(name, resumeStep);
      await quietly(() => lane.wake(name));
      return done;
    },
    async cancel(name) {
      const done = await control(name, stopStep);
      if (done.changed) await takeOut(name);
      return done;
    },
    async status(name) {
      const entry = await readEntry(store, name);
      return entry === null ? null : viewOf(entry);
    },
    list: async () => (await loops()).map(viewOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    limits: () => readLimits(store),
    async setLimits(change) {
      await updateLimits(store, () => ({
        ...change,
        ...(change.maxCostUsd === undefined ? {} : { spentUsd: 0 }),
      }));
    },
    async setMaxParallel(maxParallel) {
      await updateLimits(store, () => ({ maxParallel }));
    },
    async holdAccount(account, until) {
      await holdAccount(store, account, until, now());
    },
    releaseAccount: (account) =>
      updateLimits(store, ({ holds }) => {
        const { [account]: held, ...others } = holds;
        return held === undefined ? null : { holds: others };
      }),
    async order(name) {
      const entry = await readEntry(store, name);
      const text = entry === null ? null : await store.get('orders', entry.key);
      return text === null ? null : JSON.parse(text);
    },
    async report(claim, news) {
      await report(store, claim, news);
    },
    async events(name, count = 500) {
      return (await lastLines('events', name, count)).map((line): FleetEvent => JSON.parse(line));
    },
    log: (name, count = 1000) => lastLines('log', name, count),
    async tail(name) {
      const entry = await readEntry(store, name);
      return entry === null ? null : store.get('tails', entry.key);
    },
    async hosts() {
      const held = await loops();
      return [...(await readHosts(store))].map(([host, record]) => ({
        host,
        labels: record.labels,
        draining: record.draining,
        seenAt: record.seenAt,
        gone: isGone(record),
        loops: held.flatMap((entry) =>
          entry.holder?.host === host && !isOver(entry) ? [entry.loop.name] : [],
        ),
      }));
    },
    register,
    async drain(host, on) {
      const hosts = host === null ? [...(await readHosts(store)).keys()] : [host];
      for (const one of hosts) {
        await updateHost(store, one, (record) => ({
          labels: [],
          seenAt: 0,
          id: null,
          ...record,
          draining: on,
        }));
      }
      return hosts;
    },
    async recount(name, iterations) {
      const step = await updateEntry(store, name, ({ loop, holder }) => {
        if (holder !== null || (loop.iteration === iterations && loop.ended === iterations)) return null;
        const text = `counted anew: ${iterations} iterations are on the branch`;
        return {
          change: { iteration: iterations, ended: iterations },
          events: [{ at: now(), type: 'iteration.ended', text, iteration: iterations }],
        };
      });
      return step?.changed ?? false;
    },
    async forget(name) {
      const text = await store.get('loops', name);
      const entry = text === null ? null : parseEntry(text);
      if (entry === null || !isOver(entry) || !(await store.swap('loops', name, text, null))) return false;
      await dropRecords(store, entry.key);
      return true;
    },
    post: (box, text) => store.append(`box:${box}`, [storable(text)], boxKeep),
    take: (box) => store.takeFirst(`box:${box}`),
    close: () => store.close(),
  };
}

async function report(store: Store, claim: { name: string; token: string }, news: News): Promise<void> {
  const { name } = claim;
  const { why, head, tail, events = [] } = news;
  const step = await updateEntry(store, name, (entry) => {
    if (String(entry.loop.launch) !== claim.token || isOver(entry)) return null;
    return {
      change: why === undefined ? {} : { why },
      events,
      ...(head === undefined ? {} : { entry: { head } }),
    };
  });
  // What happened is told whoever has the loop by now: that a push came too late, above all.
  if (step !== null && !step.changed) await tell(store, step.after.key, { events });
  if (!step?.changed || tail === undefined) return;
  const text = storable(tail.slice(-tailChars));
  const { key } = step.after;
  for (;;) {
    if (await store.swap('tails', key, await store.get('tails', key), text)) return;
  }
}

/** PostgreSQL has no place for this one character. */
function storable(text: string): string {
  return text.replaceAll('\0', '');
}

/** Everything that a submission has in the store beside its entry. */
async function dropRecords(store: Store, key: string): Promise<void> {
  await Promise.all([
    store.clear(`log:${key}`),
    store.clear(`events:${key}`),
    drop(store, 'orders', key),
    drop(store, 'tails', key),
  ]);
}

async function drop(store: Store, shelf: 'orders' | 'tails', key: string): Promise<void> {
  await store.swap(shelf, key, await store.get(shelf, key), null);
}

function entryFor(
  order: LoopOrder,
  given: Pick<Entry, 'key' | 'account' | 'lane'> & { readonly at: number; readonly launch: number },
): Entry {
  const { key, account, lane, at, launch } = given;
  const { name, settings, options, source, labels = [], tags, command, budget = {} } = order;
  return {
    v: 1,
    key,
    loop: { ...newRecord(name, { settings, options, held: false }, at), launch },
    lane,
    account,
    holder: null,
    answered: null,
    spent: { costUsd: 0, tokens: 0 },
    budget,
    head: null,
    repo: source?.repo ?? '',
    branch: source?.branch ?? '',
    labels,
    tags,
    command,
  };
}
