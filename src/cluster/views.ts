import { parseAs } from '../core/parse-as.ts';
import { timelineOf } from '../fleet/files/events.ts';
import { type Cluster, loopOrder } from './cluster.ts';
import { allEntries, isOver, maxLines, readEntries, readEntry, viewOf } from './entries.ts';
import { isGone, readHosts } from './hosts.ts';
import { readLimits } from './limits.ts';
import type { TimedStore } from './store.ts';

type Views = Pick<
  Cluster,
  'status' | 'list' | 'unreadable' | 'limits' | 'order' | 'timeline' | 'log' | 'tail' | 'runState' | 'hosts'
>;

/** Returns the reading calls of a cluster. */
export function clusterViews(timed: TimedStore): Views {
  const { store } = timed;

  async function lastLines(list: 'events' | 'log', name: string, count: number): Promise<string[]> {
    const entry = await readEntry(store, name);
    return entry === null ? [] : store.last(`${list}:${entry.key}`, count);
  }

  async function record(shelf: 'orders' | 'tails' | 'runStates', name: string): Promise<string | null> {
    const entry = await readEntry(store, name);
    return entry === null ? null : store.get(shelf, entry.key);
  }

  return {
    async status(name) {
      const entry = await readEntry(store, name);
      return entry === null ? null : viewOf(entry);
    },
    list: async () => (await allEntries(store)).map(viewOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    async unreadable() {
      const [{ unreadable }, aside] = await Promise.all([readEntries(store), store.keys('aside')]);
      const past = aside.filter((name) => unreadable.every((one) => one.name !== name));
      return [
        ...unreadable.map(({ name, isNewer }) => ({ name, isNewer })),
        ...past.map((name) => ({ name, isNewer: false })),
      ];
    },
    limits: () => readLimits(store),
    async order(name) {
      return parseAs(loopOrder, await record('orders', name));
    },
    timeline: async (name) => timelineOf(await lastLines('events', name, maxLines.events)),
    log: (name, count = maxLines.lines) => lastLines('log', name, count),
    tail: (name) => record('tails', name),
    runState: (name) => record('runStates', name),
    async hosts() {
      const openEntries = (await allEntries(store)).filter((entry) => !isOver(entry));
      return [...(await readHosts(store))].map(([host, { id: _id, ...record }]) => ({
        host,
        ...record,
        gone: isGone(timed, record),
        loops: openEntries.flatMap(({ holder, loop }) => (holder?.host === host ? [loop.name] : [])),
      }));
    },
  };
}
