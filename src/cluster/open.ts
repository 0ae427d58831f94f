import { messageOf, RalphError } from '../core/error.ts';
import { systemClock } from '../os/clock.ts';
import { type ClusterAddress, placeOf } from './address.ts';
import { type Cluster, createCluster } from './cluster.ts';
import type { LeaseTimes } from './redis.ts';

export type ClusterOptions = Partial<LeaseTimes> & { readonly now?: () => number };

/** Outlives a link that stalls for 5 seconds; a crash is noticed within it and a check or two: less than 10 seconds. */
export const defaultLeaseMs = 7500;

/** Connects to the cluster at an address. */
export async function openCluster(address: ClusterAddress, options: ClusterOptions = {}): Promise<Cluster> {
  const { leaseMs = defaultLeaseMs, callMs = 5000, now = () => systemClock.now() } = options;
  // Imported on demand, because the client is large.
  const { openRedis } = await import('./redis.ts');
  const store = await openRedis(address, { leaseMs, callMs }).catch((error: unknown) => {
    // No `cause`: that of Redis holds the arguments of the failed call, and so the password.
    throw new RalphError('cluster', `cannot work with ${placeOf(address)}: ${messageOf(error)}`, {
      remedy:
        'see that it runs, can be reached from here, and lets you in (SWARM_CLUSTER, SWARM_CLUSTER_PASSWORD)',
      exitCode: 1,
    });
  });
  return createCluster(store, leaseMs, now);
}
