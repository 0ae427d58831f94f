import { endWorker, forgetWorker } from '../../fleet/end-worker.ts';
import { loopOf } from '../../fleet/files/loops.ts';
import { type Worker, worktreeOf } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { type Live, lookAtWorkers } from '../../fleet/live.ts';
import { removeWorktree } from '../../fleet/worktree-dirt.ts';
import { systemClock } from '../../os/clock.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker, warn } from './context.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { cleanOptions } from './options.ts';

export async function main(context: Context, input: Input<typeof cleanOptions>): Promise<number> {
  const { values, args } = input;
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or use --all');
  if (wantsCluster(context, values)) return cleanInCluster(context, input);
  const workers = values.all ? await allWorkers(context) : [await needWorker(context, args[0])];
  const lives = await lookAtWorkers(context.env, workers);
  const options = { worktree: values['rm-worktree'] !== false, force: values['force-dirty'] === true };
  for (const live of lives) {
    const { name } = live.worker;
    const busy = busyText(context, live);
    if (busy !== null) {
      if (!values.all) throw fault(`cannot clean ${busy} worker '${name}'`, `swarm kill ${name}`);
      warn(context, `skipping '${name}' (${busy === 'running' ? 'still running' : busy})`);
      continue;
    }
    await removeWorker(context, live.worker, options);
    context.stdout.write(`cleaned ${name}\n`);
  }
  return 0;
}

function cleanInCluster(context: Context, { values, args }: Input<typeof cleanOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const views = values.all ? await cluster.list() : [await needClusterLoop(cluster, args[0])];
    for (const view of views) {
      if (await cluster.forget(view.name)) context.stdout.write(`cleaned ${view.name}\n`);
      else if (values.all) warn(context, `skipping '${view.name}' (still running)`);
      else throw fault(`cannot clean running worker '${view.name}'`, `swarm kill ${view.name}`);
    }
    return 0;
  });
}

/** Takes a worker off the list and removes its files, except a worktree that holds work. */
async function removeWorker(
  context: Context,
  worker: Worker,
  options: { readonly worktree: boolean; readonly force: boolean },
): Promise<void> {
  const { env } = context;
  await holdWorker(env, worker.name, async () => {
    await endWorker(env, worker, systemClock.now());
    const worktree = worktreeOf(worker);
    if (worktree !== null && options.worktree) {
      const result = await removeWorktree(worktree, options.force);
      if (!result.removed) {
        warn(context, `preserving worktree for '${worker.name}': ${result.because}`);
        context.stderr.write(`swarm: worktree at: ${worktree.path}\n`);
        context.stderr.write('swarm: use --force-dirty to remove anyway\n');
        // No command of ours finds the worktree of a worker that is off the list.
        const removal = `git -C '${worktree.base_repo}' worktree remove --force '${worktree.path}'`;
        context.stderr.write(`swarm: from now on with: ${removal}\n`);
      }
    }
    forgetWorker(env, worker.name);
  });
}

/** Says why a worker cannot be cleaned. The worker of a paused loop is stopped, but its loop is not over. */
function busyText({ env }: Context, { running, worker }: Live): 'running' | 'paused' | null {
  if (running) return 'running';
  const loop = loopOf(env, worker);
  return loop?.status === 'paused' ? 'paused' : null;
}
