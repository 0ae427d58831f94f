import { ago } from '../fleet/files/time.ts';
import type { TopRow, TopView } from '../fleet/top.ts';
import { byUrgency, needsYou, nextCommand, whyText } from '../fleet/why.ts';
import type { Cluster, ClusterView } from './cluster.ts';

/** How a cluster stands at this moment, as `swarm top` shows it. */
export async function clusterTop(cluster: Pick<Cluster, 'list' | 'limits'>, now: number): Promise<TopView> {
  const [views, { maxParallel, holds }] = await Promise.all([cluster.list(), cluster.limits()]);
  return {
    rows: views.map((view) => rowOf(view, now)).sort(byUrgency),
    running: views.filter(({ host }) => host !== null).length,
    maxParallel,
    held: Object.keys(holds).filter((account) => (holds[account] ?? 0) > now),
    undriven: false,
  };
}

function rowOf(
  { name, why, host, iteration, maxIterations, totalFailures }: ClusterView,
  now: number,
): TopRow {
  const next = nextCommand(name, why);
  return {
    name,
    state: why.state,
    needsYou: needsYou(why.state),
    isLoop: true,
    why: host === null ? whyText(why, now) : `${whyText(why, now)}, on ${host}`,
    since: ago(now - why.since),
    iteration: `${iteration}/${maxIterations}`,
    failures: totalFailures,
    // Nobody can go to a window on another machine, or start it anew from here.
    next: next?.startsWith('swarm attach')
      ? `swarm logs ${name}`
      : next?.startsWith('swarm respawn')
        ? null
        : next,
  };
}
