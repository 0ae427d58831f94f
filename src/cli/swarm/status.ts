import type { Cluster } from '../../cluster/cluster.ts';
import { isOpen, type LoopRecord, loopOf, needsYou } from '../../fleet/files/loops.ts';
import { ago, readStamp } from '../../fleet/files/time.ts';
import { worktreeOf } from '../../fleet/files/workers.ts';
import { runningNow } from '../../fleet/live.ts';
import { stateWord, whyText } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needWorker, warnOfDamage } from './context.ts';
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
  const loop = loopOf(context.env, worker);
  warnOfDamage(context, worker, loop);
  const details = [
    tmux === null ? `pid ${pid}` : `tmux window ${tmux.session}:${tmux.window}`,
    ...(worktree === null ? [] : [`worktree ${worktree.path}`]),
    ...timeDetails(running, loop, readStamp(started) ?? systemClock.now()),
  ];
  return { name: worker.name, running, loop, details };
}

async function clusterView(cluster: Cluster, name: string | undefined): Promise<StatusView> {
  const loop = await needClusterLoop(cluster, name, 2);
  const details = [
    ...(loop.host === null ? [] : [`host ${loop.host}`]),
    `branch ${loop.branch}`,
    ...timeDetails(isOpen(loop), loop, loop.startedAt),
  ];
  return { name: loop.name, running: loop.status === 'running', loop, details };
}

/** How long it has been running or, if it is over and somebody wrote that down, how long it ran. */
function timeDetails(running: boolean, loop: LoopRecord | null, startedAt: number): string[] {
  if (running) return [`uptime ${ago(systemClock.now() - startedAt)}`];
  return loop === null ? [] : [`ran ${ago(loop.why.since - startedAt)}`];
}

/** How far a loop is, and how it ended or what it asks: `not done, iteration 3/3`. */
function loopDetails({ why, end, status, iteration, settings }: LoopRecord): string[] {
  const asks = needsYou(why.state) ? [whyText(why, systemClock.now())] : [];
  const isTold = asks.length > 0 || (end === null && status !== 'paused');
  const word = isTold ? asks : [stateWord(why.state)];
  return [...word, `iteration ${iteration}/${settings.max_iterations}`];
}
