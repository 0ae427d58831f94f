import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import { isNewer, type Store, type TimedStore, updateRecord } from './store.ts';

/** A machine as it stands in the store. */
const hostRecord = v.object({
  labels: v.pipe(v.array(v.string()), v.readonly()),
  /** Agents that it has; without them, it may have any. */
  agents: v.exactOptional(v.pipe(v.array(v.string()), v.readonly())),
  /** Agents, or all of it (`*`), that do not work there now, with the reason. */
  faults: v.fallback(v.record(v.string(), v.string()), {}),
  draining: v.fallback(v.boolean(), false),
  /** Time when it last asked for work or renewed a claim. */
  seenAt: v.number(),
  /** Tells machines of the same name apart. */
  id: v.fallback(v.nullable(v.string()), null),
});
export type HostRecord = Readonly<v.InferOutput<typeof hostRecord>>;

export type HostView = Omit<HostRecord, 'id'> & {
  readonly host: string;
  /** True if it has been silent for several leases. */
  readonly gone: boolean;
  readonly loops: readonly string[];
};

/** Machine that asks for work. It only gets loops that ask for no other labels and agents, and for none that do not work. */
export type Claimant = Pick<HostRecord, 'labels' | 'agents'> & {
  readonly host: string;
  readonly faults?: HostRecord['faults'];
};

/** A machine that was never seen. */
const unseen: HostRecord = { labels: [], faults: {}, draining: false, seenAt: 0, id: null };

const seenEveryMs = 10_000;
/** A machine is gone after this many leases without a sign of it. */
const goneLeases = 5;
const goneAtLeastMs = 3 * seenEveryMs;
const forgetMs = 24 * 60 * 60 * 1000;

export async function readHosts(store: Store): Promise<ReadonlyMap<string, HostRecord>> {
  const hosts = new Map<string, HostRecord>();
  for (const [host, text] of await store.all('hosts')) {
    const record = parseAs(hostRecord, text);
    if (record !== null) hosts.set(host, record);
  }
  return hosts;
}

export async function isDraining(store: Store, host: string): Promise<boolean> {
  return parseAs(hostRecord, await store.get('hosts', host))?.draining === true;
}

/** True if a machine has been silent for several leases. */
export function isGone({ leaseMs, now }: TimedStore, { seenAt }: Pick<HostRecord, 'seenAt'>): boolean {
  return now() - seenAt > Math.max(goneAtLeastMs, goneLeases * leaseMs);
}

/** Returns a name for a machine: its own, or a numbered one if another live machine has that. */
export async function registerHost(
  timed: TimedStore,
  { host, ...traits }: Claimant,
  id: string,
): Promise<string> {
  const seenAt = timed.now();
  await forgetHosts(timed);
  for (let count = 1; ; count++) {
    const name = count === 1 ? host : `${host}-${count}`;
    let isOurs = false;
    await updateHost(timed.store, name, (record) => {
      isOurs = record === null || record.id === null || record.id === id || isGone(timed, record);
      return isOurs ? { ...unseen, draining: record?.draining ?? false, ...traits, seenAt, id } : record;
    });
    if (isOurs) return name;
  }
}

/** Returns a function that records that a machine is alive: every ten seconds, and when it changes. */
export function createSightings({ store, now }: TimedStore): (by: Claimant) => Promise<void> {
  const due = new Map<string, number>();
  return async ({ host, ...traits }) => {
    const sighting = JSON.stringify([host, traits]);
    if (now() < (due.get(sighting) ?? 0)) return;
    due.clear();
    due.set(sighting, now() + seenEveryMs);
    await updateHost(store, host, (record) => {
      const { draining, id } = record ?? unseen;
      return { ...unseen, draining, id, ...traits, seenAt: now() };
    });
  };
}

/** Drains one machine, or all of them (null). Returns their names. */
export async function drainHosts(store: Store, host: string | null, on: boolean): Promise<readonly string[]> {
  const hosts = host === null ? [...(await readHosts(store)).keys()] : [host];
  for (const one of hosts) await updateHost(store, one, (record) => ({ ...unseen, ...record, draining: on }));
  return hosts;
}

/** Removes machines that were not seen for a day, unless they drain. */
async function forgetHosts({ store, now }: TimedStore): Promise<void> {
  const isOld = ({ draining, seenAt }: HostRecord) => !draining && now() - seenAt > forgetMs;
  for (const [host, record] of await readHosts(store)) {
    if (isOld(record)) await updateHost(store, host, (newest) => (newest && isOld(newest) ? null : newest));
  }
}

function updateHost(
  store: Store,
  host: string,
  change: (record: HostRecord | null) => HostRecord | null,
): Promise<boolean> {
  return updateRecord(store, 'hosts', host, (text) => {
    if (isNewer(text)) return undefined;
    const next = change(parseAs(hostRecord, text));
    return next === null ? null : JSON.stringify({ v: 1, ...next });
  });
}
