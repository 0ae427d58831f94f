import type { Context } from '../kernel/spec.ts';
import type { Fleet } from './fleet.ts';
import { localFleet } from './local-fleet.ts';
import { wantsCluster, withCluster } from './open-cluster.ts';

/** Calls `use` with the fleet that the command is about. */
export async function withFleet(
  context: Context,
  values: { readonly cluster?: string },
  use: (fleet: Fleet) => Promise<number>,
): Promise<number> {
  if (!wantsCluster(context, values)) return use(localFleet(context));
  const { clusterFleet } = await import('./cluster-fleet.ts');
  return withCluster(context, values, (cluster) => use(clusterFleet(cluster)));
}
