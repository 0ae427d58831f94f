import * as v from 'valibot';
import { parseAs } from '../core/parse-as.ts';
import type { Claimant } from './cluster.ts';
import type { Engine, Store } from './store.ts';

/** A machine as it stands in the store. */
const hostRecord = v.object({
  labels: v.pipe(v.array(v.string()), v.readonly()),
  draining: v.fallback(v.boolean(), false),
  /** When it last asked for work or told that it is there. */
  seenAt: v.number(),
  /** Tells machines of the same name apart. */
  id: v.fallback(v.nullable(v.string()), null),
});
export type HostRecord = Readonly<v.InferOutput<typeof hostRecord>>;

const seenEveryMs = 10_000;
/** A machine is gone after this many leases, and not before it could have been seen some times. */
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

/** Whether a machine has been silent for so long that nobody should count on it. */
export function isGone({ leaseMs, now }: Engine, { seenAt }: HostRecord): boolean {
  return now() - seenAt > Math.max(goneAtLeastMs, goneLeases * leaseMs);
}

/** The name for a machine: its own, or a numbered one where another machine that is there has that. */
export async function registerHost(engine: Engine, { host, labels }: Claimant, id: string): Promise<string> {
  const seenAt = engine.now();
  for (let count = 1; ; count++) {
    const name = count === 1 ? host : `${host}-${count}`;
    let isOurs = false;
    await updateHost(engine.store, name, (record) => {
      isOurs = record === null || record.id === null || record.id === id || isGone(engine, record);
      return isOurs ? { draining: record?.draining ?? false, labels, seenAt, id } : record;
    });
    if (isOurs) return name;
  }
}

/** Notes now and then that a machine is there. */
export function createSightings({ store, now }: Engine): (by: Claimant) => Promise<void> {
  const due = new Map<string, number>();
  return async ({ host, labels }) => {
    if (now() < (due.get(host) ?? 0)) return;
    due.set(host, now() + seenEveryMs);
    await updateHost(store, host, (record) => ({
      draining: record?.draining ?? false,
      labels,
      seenAt: now(),
      id: record?.id ?? null,
    }));
  };
}

/** Null is all machines. Gives the names of those that were told. */
export async function drainHosts(store: Store, host: string | null, on: boolean): Promise<readonly string[]> {
  const hosts = host === null ? [...(await readHosts(store)).keys()] : [host];
  for (const one of hosts) {
    await updateHost(store, one, (record) => ({ labels: [], seenAt: 0, id: null, ...record, draining: on }));
  }
  return hosts;
}

/** That a machine drains is somebody's word, which stays. */
export async function forgetHosts({ store, now }: Engine): Promise<void> {
  const isOld = ({ draining, seenAt }: HostRecord) => !draining && now() - seenAt > forgetMs;
  for (const [host, record] of await readHosts(store)) {
    if (isOld(record)) await updateHost(store, host, (newest) => (newest && isOld(newest) ? null : newest));
  }
}

async function updateHost(
  store: Store,
  host: string,
  change: (record: HostRecord | null) => HostRecord | null,
): Promise<void> {
  for (;;) {
    const text = await store.get('hosts', host);
    const next = change(parseAs(hostRecord, text));
    if (await store.swap('hosts', host, text, next === null ? null : JSON.stringify(next))) return;
  }
}
