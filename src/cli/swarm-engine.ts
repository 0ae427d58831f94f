import { type EngineAddress, engineAddress, isInTheClear, placeOf } from '../cluster/address.ts';
import type { Cluster, ClusterView, HostView } from '../cluster/cluster.ts';
import { fits } from '../cluster/lane-names.ts';
import type { ClusterOptions } from '../cluster/open.ts';
import type { Context } from './spec.ts';
import { fault, warn } from './swarm-context.ts';

type Values = { readonly engine?: string };

/** Whether a command is about a cluster and not about this machine. Cheap: the rest is loaded only then. */
export function wantsEngine({ env }: Context, { engine }: Values): boolean {
  return engine !== 'local' && (engine ?? env.SWARM_ENGINE ?? '') !== '';
}

/** The address of the engine, for a command that needs one. */
export function needEngine(context: Context, { engine }: Values): EngineAddress {
  const address = engineAddress(engine, context.env);
  if (address === null)
    throw fault('no engine is given', '--engine redis://HOST:PORT, or SWARM_ENGINE in the environment');
  return address;
}

/** Says so where the engine is reached in the clear over a network. */
export function warnInTheClear(context: Context, address: EngineAddress): void {
  if (isInTheClear(address))
    warn(context, `what is sent to ${placeOf(address)} can be read on the way: use TLS`);
}

/** What to say where no machine is there that would take a loop with these labels; null where one is. */
export function missingMachine(hosts: readonly HostView[], labels: readonly string[]): string | null {
  if (hosts.some((one) => !one.gone && !one.draining && fits({ labels }, one.labels))) return null;
  if (labels.length === 0) return 'no machine that takes loops is there: swarm worker';
  return `no machine with the labels ${labels.join(',')} is there: swarm worker --labels ${labels.join(',')}`;
}

/** Does something with the fleet of a cluster, and lets go of it. */
export async function withCluster<T>(
  context: Context,
  values: Values,
  use: (cluster: Cluster) => Promise<T>,
  options: ClusterOptions = {},
): Promise<T> {
  const { openCluster } = await import('../cluster/open.ts');
  const cluster = await openCluster(needEngine(context, values), options);
  try {
    return await use(cluster);
  } finally {
    await cluster.close();
  }
}

/** The loop of that name, or the end of the command. */
export async function needLoop(
  cluster: Cluster,
  name: string | undefined,
  exitCode = 1,
): Promise<ClusterView> {
  if (name === undefined) throw fault('a worker name is required');
  const view = await cluster.status(name);
  if (view === null) throw fault(`worker '${name}' not found`, 'swarm ls', exitCode);
  return view;
}

/** Whether a loop has not come to its end. */
export function isOpen({ status }: Pick<ClusterView, 'status'>): boolean {
  return status !== 'stopped' && status !== 'failed';
}
