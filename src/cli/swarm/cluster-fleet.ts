import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import type { HostView } from '../../cluster/hosts.ts';
import type { LoopOrder } from '../../cluster/orders.ts';
import { agentOf, fits } from '../../cluster/queues.ts';
import { clusterTop } from '../../cluster/top.ts';
import { isOpen } from '../../fleet/files/loops.ts';
import { nextCommand } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import type { Fleet, Member } from './fleet.ts';
import { needClusterLoop } from './open-cluster.ts';

export function clusterFleet(cluster: Cluster): Fleet {
  return {
    isCluster: true,
    async all(only) {
      const views = await cluster.list();
      return views.filter(({ name }) => only === undefined || name === only).map(memberOf);
    },
    need: async (name, exitCode) => memberOf(await needClusterLoop(cluster, name, exitCode)),
    loops: () => cluster.list(),
    needLoop: (name) => needClusterLoop(cluster, name),
    pause: (name) => cluster.pause(name),
    resume: async (name) => ((await cluster.resume(name)) ? '' : null),
    end: (name) => cluster.cancel(name),
    forget: async (name) => ((await cluster.forget(name)) ? null : 'running'),
    explain: ({ name }) => explain(cluster, name),
    history: async (name) => ({ timeline: await cluster.timeline(name), journal: null }),
    log: (name) => cluster.log(name),
    top: () => clusterTop(cluster, systemClock.now()),
    limits: () => cluster.limits(),
    setLimits: (change) => cluster.setLimits(change),
    releaseAccount: (account) => cluster.releaseAccount(account),
  };
}

function memberOf(loop: ClusterView): Member {
  const { name, host, branch, startedAt } = loop;
  const place = [...(host === null ? [] : [`host ${host}`]), `branch ${branch}`];
  return { name, running: loop.status === 'running', isLoop: true, loop, startedAt, place };
}

async function explain(cluster: Cluster, name: string) {
  const loop = await needClusterLoop(cluster, name);
  const { host, why } = loop;
  const next = isOpen(loop) ? nextCommand(name, why) : null;
  const hosts = await cluster.hosts();
  const isHeld = hosts.some((one) => one.host === host && !one.gone);
  const missing = loop.status === 'running' && !isHeld ? missingMachine(hosts, loop) : null;
  const hints = [
    // There is no window to attach to.
    ...(next === null || next.startsWith('swarm attach') ? [] : [`next: ${next}`]),
    ...(missing === null ? [] : [missing]),
  ];
  return { why, hints };
}

/** Returns the warning that no machine takes a loop; null if one does. */
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
