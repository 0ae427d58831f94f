import { parseAs } from '../core/parse-as.ts';
import { timelineOf } from '../fleet/files/events.ts';
import { isOver, maxLines, readEntries, readEntry, viewOf } from './entries.ts';
import { type HostView, isGone, readHosts } from './hosts.ts';
import { readLimits } from './limits.ts';
import { type LoopOrder, loopOrder } from './orders.ts';
import type { TimedStore } from './store.ts';

/** Returns the reading calls of a cluster. */
export function clusterViews(timed: TimedStore) {
  const { store } = timed;

  async function lastLines(list: 'events' | 'log', name: string, count: number): Promise<string[]> {
    const entry = await readEntry(store, name);
    return entry === null ? [] : store.last(list, entry.key, count);
  }

  async function record(shelf: 'orders' | 'tails' | 'runStates', name: string): Promise<string | null> {
    const entry = await readEntry(store, name);
    return entry === null ? null : store.get(shelf, entry.key);
  }

  return {
    async status(name: string) {
      const entry = await readEntry(store, name);
      return entry === null ? null : viewOf(entry);
    },
    async list() {
      const { entries } = await readEntries(store);
      return entries.map(viewOf).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    /** Loops whose records this version cannot read: of a newer version, or malformed and set aside. */
    async unreadable() {
      const [{ unreadable }, aside] = await Promise.all([readEntries(store), store.all('aside')]);
      const past = [...aside.keys()].filter((name) => unreadable.every((one) => one.name !== name));
      return [...unreadable, ...past.map((name) => ({ name, isNewer: false }))];
    },
    limits: () => readLimits(store),
    /** The loop as it was submitted. */
    async order(name: string): Promise<LoopOrder | null> {
      return parseAs(loopOrder, await record('orders', name));
    },
    timeline: async (name: string) => timelineOf(await lastLines('events', name, maxLines.events)),
    /** Lines as in `iterations.log`. */
    log: (name: string, count: number = maxLines.lines) => lastLines('log', name, count),
    tail: (name: string) => record('tails', name),
    /** Run state that the last machine left for the next one. */
    runState: (name: string) => record('runStates', name),
    async hosts(): Promise<HostView[]> {
      const { entries } = await readEntries(store);
      const openEntries = entries.filter((entry) => !isOver(entry));
      return [...(await readHosts(store))].map(([host, { id: _id, ...record }]) => ({
        host,
        ...record,
        gone: isGone(timed, record),
        loops: openEntries.flatMap(({ holder, loop }) => (holder?.host === host ? [loop.name] : [])),
      }));
    },
  };
}
