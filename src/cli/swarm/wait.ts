import { readLoop } from '../../fleet/files/loops.ts';
import { runningNow } from '../../fleet/live.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker } from './context.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { waitOptions } from './options.ts';
import { clusterEntries, loopEntry, type WaitEntry, waitUntilOver } from './wait-entries.ts';

export async function main(context: Context, { values, args }: Input<typeof waitOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('name required (or use --all)');
  if (wantsCluster(context, values)) {
    return withCluster(context, values, async (cluster) => {
      const only = values.all ? null : (await needClusterLoop(cluster, args[0])).name;
      return waitUntilOver(context, () => clusterEntries(cluster, only), values);
    });
  }
  const only = values.all ? null : (await needWorker(context, args[0])).name;
  return waitUntilOver(context, () => localEntries(context, only), values);
}

/** Also starts a supervisor if it has died: the loops would never end without one. */
async function localEntries(context: Context, only: string | null): Promise<readonly WaitEntry[]> {
  const { env } = context;
  const workers = (await allWorkers(context)).filter(({ name }) => only === null || name === only);
  const running = await runningNow(env, workers);
  return workers.map(({ name, metadata }, index): WaitEntry => {
    const isOver = running[index] !== true;
    if (metadata.ralph !== true) return { name, isOver, text: 'exited', exitCode: 0 };
    const loop = readLoop(env, name);
    if (loop === null) return { name, isOver, text: 'exited, its loop is gone', exitCode: 1 };
    const entry = loopEntry(loop);
    // The list of workers is written a moment after the end of a loop.
    return loop.status === 'paused' ? entry : { ...entry, isOver: entry.isOver && isOver };
  });
}
