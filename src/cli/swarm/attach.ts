import { lookAtWorker } from '../../fleet/live.ts';
import { runInForeground } from '../../os/process/spawn.ts';
import { tmuxArgv } from '../../os/terminal/tmux.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from '../ralph/options.ts';
import { fault, needWorker } from './context.ts';

export async function main(context: Context, { args }: Input<typeof noOptions>): Promise<number> {
  const worker = await needWorker(context, args[0]);
  if (worker.tmux === null) throw fault(`worker '${worker.name}' is not a tmux worker`);
  const { pane } = await lookAtWorker(context.env, worker);
  if (pane === null)
    throw fault(`worker '${worker.name}' has no window any more`, `swarm respawn ${worker.name}`);
  const { socket } = worker.tmux;
  // Inside the same server, the client that is there already is taken to the window.
  const inside = (context.env.TMUX ?? '').split(',')[0]?.endsWith(`/${socket ?? 'default'}`) === true;
  const { TMUX: _, ...outside } = context.env;
  const go = inside ? ['switch-client', '-t', pane.id] : ['attach-session', '-t', `=${pane.session}`];
  const end = await runInForeground(tmuxArgv(socket, ['select-window', '-t', pane.id], go), {
    cwd: context.cwd,
    env: inside ? context.env : outside,
  });
  if (end.error) throw fault(`tmux cannot be started: ${end.error.message}`);
  return end.exitCode ?? 1;
}
