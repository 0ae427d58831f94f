import { runningNow } from '../fleet/live.ts';
import { worktreeOf } from '../store/fleet-workers.ts';
import type { Context, Input } from './spec.ts';
import { needWorker } from './swarm-context.ts';
import { wantsEngine } from './swarm-engine.ts';
import { statusText, uptime } from './swarm-ls.ts';
import type { statusOptions } from './swarm-options.ts';

/** Exit code 0 for a worker that runs, 1 for one that does not, 2 where there is none. */
export async function main(context: Context, input: Input<typeof statusOptions>): Promise<number> {
  if (wantsEngine(context, input.values))
    return (await import('./swarm-cluster-views.ts')).status(context, input);
  const { args } = input;
  const worker = await needWorker(context, args[0], { exitCode: 2 });
  const [running = false] = await runningNow(context.env, [worker]);
  const { tmux, pid, started } = worker;
  const worktree = worktreeOf(worker);
  const details = [
    tmux === null ? `pid ${pid}` : `tmux window ${tmux.session}:${tmux.window}`,
    ...(worktree === null ? [] : [`worktree ${worktree.path}`]),
    `uptime ${uptime(started)}`,
  ];
  context.stdout.write(`${worker.name}: ${statusText(running)} (${details.join(', ')})\n`);
  return running ? 0 : 1;
}
