import { defaultFolder, placesIn } from '../../cluster/places.ts';
import { type Reconciled, reconcile } from '../../cluster/reconcile.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needClusterLoop, withCluster } from './open-cluster.ts';
import type { reconcileOptions } from './options.ts';

/** Puts the counters of the store right by what is on the branches. */
export async function main(
  context: Context,
  { values, args }: Input<typeof reconcileOptions>,
): Promise<number> {
  const places = placesIn(defaultFolder(context.env));
  return withCluster(context, values, async (cluster) => {
    const all = args[0] === undefined ? await cluster.list() : [await needClusterLoop(cluster, args[0])];
    const open = all.filter(({ status }) => status === 'running' || status === 'paused');
    if (open.length === 0) context.stdout.write('no loop is open: there is nothing to put right\n');
    let problems = 0;
    for (const view of open) {
      const found = await reconcile(cluster, places, view, values.lost === true);
      if (found.kind === 'unreadable') problems++;
      context.stdout.write(cleanTerminal(`${view.name}: ${textOf(found, view.branch)}\n`));
    }
    return problems === 0 ? 0 : 1;
  });
}

function textOf(found: Reconciled, branch: string): string {
  switch (found.kind) {
    case 'right':
      return `right, ${found.iterations} iterations on ${branch}`;
    case 'changed':
      return `put right: ${found.iterations} iterations, the store said ${found.before}`;
    case 'over':
      return `had ended after ${found.iterations} iterations: ${found.text}`;
    case 'held':
      return `left alone, ${found.host} has it`;
    case 'unreadable':
      return `left alone, ${branch} cannot be read: ${found.why}`;
  }
}
