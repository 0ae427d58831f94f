import { type LoopRecord, loopOf } from '../../fleet/files/loops.ts';
import { worktreeOf } from '../../fleet/files/workers.ts';
import { runningNow } from '../../fleet/live.ts';
import { stateWord } from '../../fleet/why.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needWorker } from './context.ts';
import { uptime } from './ls.ts';
import { wantsCluster } from './open-cluster.ts';
import type { clusterOptions } from './options.ts';

/** Exit code 0 for a worker that runs, 1 for one that does not, 2 where there is none. */
export async function main(context: Context, input: Input<typeof clusterOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster-views.ts')).status(context, input);
  const { args } = input;
  const worker = await needWorker(context, args[0], { exitCode: 2 });
  const [running = false] = await runningNow(context.env, [worker]);
  const { tmux, pid, started } = worker;
  const worktree = worktreeOf(worker);
  const loop = loopOf(context.env, worker);
  const details = [
    ...(loop === null ? [] : loopDetails(loop)),
    tmux === null ? `pid ${pid}` : `tmux window ${tmux.session}:${tmux.window}`,
    ...(worktree === null ? [] : [`worktree ${worktree.path}`]),
    `uptime ${uptime(started)}`,
  ];
  const status = running ? 'running' : 'stopped';
  context.stdout.write(cleanTerminal(`${worker.name}: ${status} (${details.join(', ')})\n`));
  return running ? 0 : 1;
}

/** How far a loop is, and how it ended where it is over: `not done, iteration 3/3`. */
function loopDetails({ why, end, iteration, settings }: LoopRecord): string[] {
  const word = end === null ? [] : [stateWord(why.state)];
  return [...word, `iteration ${iteration}/${settings.max_iterations}`];
}
