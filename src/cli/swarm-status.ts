import { runningNow } from '../fleet/live.ts';
import type { Context, Input } from './spec.ts';
import { needWorker } from './swarm-context.ts';
import { statusText, uptime } from './swarm-ls.ts';
import type { noOptions } from './swarm-options.ts';

/** Exit code 0 for a worker that runs, 1 for one that does not, 2 where there is none. */
export async function main(context: Context, { args }: Input<typeof noOptions>): Promise<number> {
  const worker = await needWorker(context, args[0], { exitCode: 2 });
  const [running = false] = await runningNow(context.env, [worker]);
  const { tmux, pid, worktree, started } = worker;
  const details = [
    tmux === null ? `pid ${pid}` : `tmux window ${tmux.session}:${tmux.window}`,
    ...(worktree === null ? [] : [`worktree ${worktree.path}`]),
    `uptime ${uptime(started)}`,
  ];
  context.stdout.write(`${worker.name}: ${statusText(running)} (${details.join(', ')})\n`);
  return running ? 0 : 1;
}
