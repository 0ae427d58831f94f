import { wholeMachine } from '../../cluster/queues.ts';
import { ago } from '../../fleet/files/time.ts';
import { systemClock } from '../../os/clock.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault } from './context.ts';
import { withCluster } from './open-cluster.ts';
import type { drainOptions, hostsOptions } from './options.ts';
import { writeList } from './table.ts';

/** Lets machines finish their iterations and take no new ones. */
export async function main(context: Context, { values, args }: Input<typeof drainOptions>): Promise<void> {
  const [host] = args;
  if (host === undefined && !values.all)
    throw fault('name a machine, or all of them with --all', 'swarm hosts');
  return withCluster(context, values, async (cluster) => {
    const hosts = await cluster.hosts();
    if (host !== undefined && !hosts.some((one) => one.host === host))
      throw fault(`there is no machine '${host}'`, 'swarm hosts');
    for (const one of await cluster.drain(host ?? null, !values.undo)) {
      context.stdout.write(values.undo ? `${one} takes loops again\n` : `draining ${one}\n`);
    }
  });
}

export async function mainHosts(context: Context, { values }: Input<typeof hostsOptions>): Promise<void> {
  return withCluster(context, values, async (cluster) => {
    const hosts = await cluster.hosts();
    return writeList(context, values.format, {
      names: hosts.map(({ host }) => host),
      json: () => hosts,
      head: ['HOST', 'STATE', 'LOOPS', 'LABELS', 'AGENTS', 'SEEN', 'DOES NOT WORK'],
      rows: () =>
        hosts.map(({ host, draining, gone, loops, labels, agents, faults, seenAt }) => [
          host,
          gone ? 'gone' : draining ? 'draining' : 'ready',
          String(loops.length),
          labels.join(',') || '-',
          agents?.join(',') || '-',
          `${ago(systemClock.now() - seenAt)} ago`,
          Object.entries(faults)
            .map(([kind, why]) => (kind === wholeMachine ? why : `${kind}: ${why}`))
            .join('; ') || '-',
        ]),
    });
  });
}
