import type { LoopOrder } from '../../cluster/cluster.ts';
import type { HostView } from '../../cluster/hosts.ts';
import { agentOf, fits } from '../../cluster/queue-names.ts';

/** The warning that no machine takes a loop; null if one does. */
export function missingMachine(
  hosts: readonly HostView[],
  { labels = [], command }: Pick<LoopOrder, 'labels' | 'command'>,
): string | null {
  const agent = agentOf(command);
  const ready = hosts.filter((one) => !one.gone && !one.draining);
  if (ready.some((one) => fits({ labels, agent }, one))) return null;
  if (ready.some((one) => fits({ labels, agent: null }, one)))
    return `no machine that has ${agent} is there: swarm hosts`;
  if (labels.length === 0) return 'no machine that takes loops is there: swarm worker';
  return `no machine with the labels ${labels.join(',')} is there: swarm worker --labels ${labels.join(',')}`;
}
