import {
  addressText,
  type ClusterAddress,
  clusterAddress,
  isInTheClear,
  placeOf,
} from '../../cluster/address.ts';
import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import type { ClusterOptions } from '../../cluster/open.ts';
import { newerRecord } from '../../cluster/store.ts';
import type { Context } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';

type Values = { readonly cluster?: string };

/** True if a command is about a cluster. Cheap: the code of clusters is loaded only then. */
export function wantsCluster({ env }: Context, { cluster }: Values): boolean {
  return cluster !== 'local' && addressText(cluster, env) !== '';
}

export function needAddress(context: Context, { cluster }: Values): ClusterAddress {
  const address = clusterAddress(cluster, context.env);
  if (address === null)
    throw fault('no cluster is given', '--cluster redis://HOST:PORT, or SWARM_CLUSTER in the environment');
  return address;
}

/** Warns if the store is reached over a network without encryption. */
export function warnInTheClear(context: Context, address: ClusterAddress): void {
  if (isInTheClear(address))
    warn(context, `what is sent to ${placeOf(address)} can be read on the way: use TLS`);
}

export async function withCluster<T>(
  context: Context,
  values: Values,
  use: (cluster: Cluster) => Promise<T>,
  options: ClusterOptions = {},
): Promise<T> {
  const { openCluster } = await import('../../cluster/open.ts');
  const cluster = await openCluster(needAddress(context, values), options);
  try {
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}

export async function needClusterLoop(
  cluster: Cluster,
  name: string | undefined,
  exitCode = 1,
): Promise<ClusterView> {
  if (name === undefined) throw fault('a worker name is required');
  const view = await cluster.status(name);
  if (view === null && (await cluster.unreadable()).some((one) => one.isNewer && one.name === name))
    throw newerRecord(`'${name}'`);
  if (view === null) throw fault(`worker '${name}' not found`, 'swarm ls', exitCode);
  return view;
}
