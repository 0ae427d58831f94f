import { heldAccounts } from '../fleet/files/limits.ts';
import { type TopRow, type TopView, topRow } from '../fleet/top.ts';
import { byUrgency } from '../fleet/why.ts';
import type { Cluster, ClusterView } from './cluster.ts';

/** Returns the state of a cluster at this moment, as `swarm top` shows it. */
export async function clusterTop(cluster: Pick<Cluster, 'list' | 'limits'>, now: number): Promise<TopView> {
  const [views, { maxParallel, holds }] = await Promise.all([cluster.list(), cluster.limits()]);
  return {
    rows: views.map((view) => rowOf(view, now)).sort(byUrgency),
    running: views.filter(({ host }) => host !== null).length,
    maxParallel,
    accountsAtLimit: heldAccounts(holds, now),
    undriven: false,
  };
}

function rowOf(view: ClusterView, now: number): TopRow {
  const { name, host } = view;
  const row = topRow(name, view.why, view, now);
  const why = host === null ? row.why : `${row.why}, on ${host}`;
  // A window on another machine cannot be attached to, nor its worker started anew from here.
  if (row.next?.startsWith('swarm attach')) return { ...row, why, next: `swarm logs ${name}` };
  return { ...row, why, next: row.next?.startsWith('swarm respawn') ? null : row.next };
}
