import { endWorker } from '../../fleet/end-worker.ts';
import { isOpen } from '../../fleet/files/loops.ts';
import { updateWorker, type Worker, worktreeOf } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { removeWorktree } from '../../fleet/worktree-dirt.ts';
import { systemClock } from '../../os/clock.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker, warn } from './context.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { killOptions } from './options.ts';

export async function main(context: Context, input: Input<typeof killOptions>): Promise<number> {
  const { values, args } = input;
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or --all');
  if (wantsCluster(context, values)) return killInCluster(context, input);
  const workers = values.all ? await allWorkers(context) : [await needWorker(context, args[0])];
  await Promise.all(
    workers.map(async (worker) => {
      await holdWorker(context.env, worker.name, async () => {
        await endWorker(context.env, worker, systemClock.now());
        if (values['rm-worktree']) await dropWorktree(context, worker, values['force-dirty'] === true);
      });
      context.stdout.write(`killed ${worker.name}\n`);
    }),
  );
  return 0;
}

function killInCluster(context: Context, { values, args }: Input<typeof killOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const views = values.all
      ? (await cluster.list()).filter(isOpen)
      : [await needClusterLoop(cluster, args[0])];
    for (const { name } of views) {
      await cluster.cancel(name);
      context.stdout.write(`killed ${name}\n`);
    }
    return 0;
  });
}

async function dropWorktree(context: Context, worker: Worker, force: boolean): Promise<void> {
  const worktree = worktreeOf(worker);
  if (worktree === null) return;
  const removal = await removeWorktree(worktree, force);
  if (removal.removed)
    return updateWorker(context.env, worker.name, { worktree: { ...worktree, removed: true } });
  warn(context, `cannot remove worktree for '${worker.name}': ${removal.because}`);
  context.stderr.write('swarm: use --force-dirty to remove anyway\n');
}
