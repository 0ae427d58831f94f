import type { Cluster } from '../../cluster/cluster.ts';
import { type LoopRecord, loopOf } from '../../fleet/files/loops.ts';
import { ago } from '../../fleet/files/time.ts';
import { worktreeOf } from '../../fleet/files/workers.ts';
import { runningNow } from '../../fleet/live.ts';
import { stateWord } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needWorker } from './context.ts';
import { uptime } from './ls.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { clusterOptions } from './options.ts';

type StatusView = {
  readonly name: string;
  readonly running: boolean;
  readonly loop: LoopRecord | null;
  readonly details: readonly string[];
};

/** Exit code 0 for a worker that runs, 1 for one that does not, 2 if there is none. */
export async function main(
  context: Context,
  { values, args }: Input<typeof clusterOptions>,
): Promise<number> {
  const { name, running, loop, details } = wantsCluster(context, values)
    ? await withCluster(context, values, (cluster) => clusterView(cluster, args[0]))
    : await localView(context, args[0]);
  const all = [...(loop === null ? [] : loopDetails(loop)), ...details].join(', ');
  context.stdout.write(cleanTerminal(`${name}: ${running ? 'running' : 'stopped'} (${all})\n`));
  return running ? 0 : 1;
}

async function localView(context: Context, name: string | undefined): Promise<StatusView> {
  const worker = await needWorker(context, name, { exitCode: 2 });
  const [running = false] = await runningNow(context.env, [worker]);
  const { tmux, pid, started } = worker;
  const worktree = worktreeOf(worker);
  const details = [
    tmux === null ? `pid ${pid}` : `tmux window ${tmux.session}:${tmux.window}`,
    ...(worktree === null ? [] : [`worktree ${worktree.path}`]),
    `uptime ${uptime(started)}`,
  ];
  return { name: worker.name, running, loop: loopOf(context.env, worker), details };
}

async function clusterView(cluster: Cluster, name: string | undefined): Promise<StatusView> {
  const loop = await needClusterLoop(cluster, name, 2);
  const details = [
    ...(loop.host === null ? [] : [`host ${loop.host}`]),
    `branch ${loop.branch}`,
    `uptime ${ago(systemClock.now() - loop.startedAt)}`,
  ];
  return { name: loop.name, running: loop.status === 'running', loop, details };
}

/** How far a loop is, and how it ended: `not done, iteration 3/3`. */
function loopDetails({ why, end, status, iteration, settings }: LoopRecord): string[] {
  const word = end === null && status !== 'paused' ? [] : [stateWord(why.state)];
  return [...word, `iteration ${iteration}/${settings.max_iterations}`];
}
