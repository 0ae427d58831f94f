import { runningNow } from '../fleet/live.ts';
import { stateWord } from '../fleet/why.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { type LoopRecord, readLoop } from '../store/fleet-loops.ts';
import { worktreeOf } from '../store/fleet-workers.ts';
import type { Context, Input } from './spec.ts';
import { needWorker } from './swarm-context.ts';
import { wantsEngine } from './swarm-engine.ts';
import { uptime } from './swarm-ls.ts';
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
  const loop = worker.metadata.ralph === true ? readLoop(context.env, worker.name) : null;
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
