import { parseAs } from '../core/parse-as.ts';
import { fleetEvent } from '../store/fleet-events.ts';
import { type Cluster, loopOrder } from './cluster.ts';
import { allEntries, isOver, readEntry, viewOf } from './entries.ts';
import { isGone, readHosts } from './hosts.ts';
import { readLimits } from './limits.ts';
import type { Engine } from './store.ts';

type Views = Pick<
  Cluster,
  'status' | 'list' | 'limits' | 'order' | 'events' | 'log' | 'tail' | 'carried' | 'hosts'
>;

/** What anybody may see of a cluster: nothing here changes the store. */
export function clusterViews(engine: Engine): Views {
  const { store } = engine;

  async function lastLines(list: 'events' | 'log', name: string, count: number): Promise<string[]> {
    const entry = await readEntry(store, name);
    return entry === null ? [] : store.last(`${list}:${entry.key}`, count);
  }

  async function record(shelf: 'orders' | 'tails' | 'carried', name: string): Promise<string | null> {
    const entry = await readEntry(store, name);
    return entry === null ? null : store.get(shelf, entry.key);
  }

  return {
    async status(name) {
      const entry = await readEntry(store, name);
      return entry === null ? null : viewOf(entry);
    },
    list: async () => (await allEntries(store)).map(viewOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    limits: () => readLimits(store),
    async order(name) {
      return parseAs(loopOrder, await record('orders', name));
    },
    async events(name, count = 500) {
      const lines = await lastLines('events', name, count);
      return lines.flatMap((line) => parseAs(fleetEvent, line) ?? []);
    },
    log: (name, count = 1000) => lastLines('log', name, count),
    tail: (name) => record('tails', name),
    carried: (name) => record('carried', name),
    async hosts() {
      const held = (await allEntries(store)).filter((entry) => !isOver(entry));
      return [...(await readHosts(store))].map(([host, known]) => ({
        host,
        labels: known.labels,
        draining: known.draining,
        seenAt: known.seenAt,
        gone: isGone(engine, known),
        loops: held.flatMap(({ holder, loop }) => (holder?.host === host ? [loop.name] : [])),
      }));
    },
  };
}
