import { messageOf, RalphError } from '../core/error.ts';
import { systemClock } from '../system/clock.ts';
import type { Cluster } from './cluster.ts';
import { clusterFleet } from './engine.ts';
import type { LeaseTimes, Store } from './store.ts';

export type ClusterOptions = {
  /** How long a machine may be silent before another takes its loops over. */
  readonly leaseMs?: number;
  readonly now?: () => number;
};

/** A crash is noticed after the lease and one or two looks: 6 and 3 seconds make it less than 10. */
export const defaultLeaseMs = 6000;

/** The fleet behind `redis://`, `rediss://` or `postgres://`. */
export async function openCluster(url: string, options: ClusterOptions = {}): Promise<Cluster> {
  const leaseMs = options.leaseMs ?? defaultLeaseMs;
  const times = { leaseMs, checkMs: Math.ceil(leaseMs / 2) };
  const address = new URL(url);
  const store = await open(address, times).catch((error: unknown) => {
    throw new RalphError('engine', `cannot reach ${placeOf(address)}: ${messageOf(error)}`, {
      remedy: 'check that the database runs and may be reached from here, and SWARM_ENGINE',
      exitCode: 1,
      cause: error,
    });
  });
  return clusterFleet(store, times, options.now ?? (() => systemClock.now()));
}

async function open(address: URL, times: LeaseTimes): Promise<Store> {
  switch (address.protocol) {
    case 'redis:':
    case 'rediss:':
      return (await import('./redis-store.ts')).openRedisStore(redisOptions(address), times);
    default:
      throw new RalphError('engine', `${address.protocol}// is no engine that swarm knows`, {
        remedy: 'redis://HOST:PORT, rediss://HOST:PORT or postgres://HOST/DATABASE',
      });
  }
}

function redisOptions({ protocol, hostname, port, username, password, pathname }: URL) {
  const db = Number(pathname.slice(1) || 0);
  return {
    host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    db,
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

/** An address without what nobody should read. */
function placeOf({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
