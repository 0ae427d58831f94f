import type { Worker } from '../../fleet/files/workers.ts';
import { lookAtWorker, lookAtWorkers } from '../../fleet/live.ts';
import { typeText } from '../../fleet/worker-window.ts';
import { runInForeground } from '../../os/process/spawn.ts';
import { type Pane, type Tmux, tmuxArgv, tmuxServer } from '../../os/terminal/tmux.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { noOptions } from '../ralph/options.ts';
import { allWorkers, fault, needWorker } from './context.ts';
import type { allOptions, sendOptions } from './options.ts';

type Window = { readonly pane: Pane; readonly tmux: Tmux };

/** `swarm send NAME TEXT`, or `swarm send --all TEXT`. */
export async function mainSend(context: Context, { values, args }: Input<typeof sendOptions>) {
  requirePerson(context.env);
  const { all = false, raw = false } = values;
  const [name, text] = all ? [undefined, args[0]] : args;
  if (!all && text === undefined)
    throw fault('--name required when not using --all', 'swarm send NAME "text"');
  if (text === undefined) throw fault('there is no text to send', 'swarm send --all "text"');
  await each(context, name, all, async (worker, { tmux, pane }) => {
    await typeText(tmux, pane.id, text, { clear: !raw, enter: !values['no-enter'] });
    context.stdout.write(`sent to ${worker.name}\n`);
  });
}

/** `swarm interrupt` presses Ctrl-C, `swarm eof` Ctrl-D. */
export function pressKey(key: 'C-c' | 'C-d', message: string) {
  return {
    async main(context: Context, { values, args }: Input<typeof allOptions>): Promise<void> {
      await each(context, args[0], values.all === true, async (worker, { tmux, pane }) => {
        await tmux.sendKeys(pane.id, key);
        context.stdout.write(`${message} ${worker.name}\n`);
      });
    },
  };
}

/** Calls `use` with the window of one worker, or of all that run. */
async function each(
  context: Context,
  name: string | undefined,
  all: boolean,
  use: (worker: Worker, window: Window) => Promise<void>,
): Promise<void> {
  const without = 'worker name required when not using --all';
  const workers = all ? await allWorkers(context) : [await needWorker(context, name, { without })];
  for (const { worker, pane } of await lookAtWorkers(context.env, workers)) {
    const isRunning = pane !== null && !pane.dead;
    if (worker.tmux !== null && isRunning) {
      await use(worker, { pane, tmux: tmuxServer(worker.tmux.socket, context.env) });
    } else if (!all) {
      const what = worker.tmux === null ? 'a tmux worker' : 'running';
      throw fault(`worker '${worker.name}' is not ${what}`);
    }
  }
}

export async function mainAttach(context: Context, { args }: Input<typeof noOptions>): Promise<number> {
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
