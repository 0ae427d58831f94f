import { lookAtWorker } from '../../fleet/live.ts';
import { runInForeground } from '../../os/process/spawn.ts';
import { tmuxArgv } from '../../os/terminal/tmux.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from '../ralph/options.ts';
import { fault, needWorker } from './context.ts';

export async function main(context: Context, { args }: Input<typeof noOptions>): Promise<number> {
  const { cwd, env } = context;
  const worker = await needWorker(context, args[0]);
  if (worker.tmux === null) throw fault(`worker '${worker.name}' is not a tmux worker`);
  const { pane } = await lookAtWorker(env, worker);
  if (pane === null)
    throw fault(`worker '${worker.name}' has no window any more`, `swarm respawn ${worker.name}`);
  const { socket } = worker.tmux;
  // Inside the same server, the client that is there goes to the window.
  const isInside = env.TMUX?.split(',')[0]?.endsWith(`/${socket ?? 'default'}`) === true;
  const { TMUX: _, ...outside } = env;
  const go = isInside ? ['switch-client', '-t', pane.id] : ['attach-session', '-t', `=${pane.session}`];
  const argv = tmuxArgv(socket, ['select-window', '-t', pane.id], go);
  const end = await runInForeground(argv, { cwd, env: isInside ? env : outside });
  if (end.error) throw fault(`tmux cannot be started: ${end.error.message}`);
  return end.exitCode ?? 1;
}
