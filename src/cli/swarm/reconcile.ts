import { defaultFolder, placesIn } from '../../cluster/places.ts';
import { type Reconciled, reconcile } from '../../cluster/reconcile.ts';
import { plural } from '../../core/text.ts';
import { isOpen } from '../../fleet/files/loops.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needClusterLoop, withCluster } from './open-cluster.ts';
import type { reconcileOptions } from './options.ts';

/** Corrects the counters of the store by the commits on the branches. */
export async function main(context: Context, { values, args }: Input<typeof reconcileOptions>) {
  const places = placesIn(defaultFolder(context.env));
  return withCluster(context, values, async (cluster) => {
    const all = args[0] === undefined ? await cluster.list() : [await needClusterLoop(cluster, args[0])];
    const open = all.filter(isOpen);
    if (open.length === 0) context.stdout.write('no loop is open: there is nothing to put right\n');
    let problems = 0;
    for (const view of open) {
      const result = await reconcile(cluster, places, view, values.lost === true);
      if (result.kind === 'unreadable') problems++;
      context.stdout.write(cleanTerminal(`${view.name}: ${textOf(result, view.branch)}\n`));
    }
    return problems === 0 ? 0 : 1;
  });
}

function textOf(result: Reconciled, branch: string): string {
  const count = 'iterations' in result ? plural(result.iterations, 'iteration') : '';
  switch (result.kind) {
    case 'right':
      return `right, ${count} on ${branch}`;
    case 'changed':
      return `put right: ${count}, the store said ${result.before}`;
    case 'over':
      return `had ended after ${count}: ${result.text}`;
    case 'held':
      return `left alone, ${result.host} has it`;
    case 'unreadable':
      return `left alone, ${branch} cannot be read: ${result.why}`;
  }
}
