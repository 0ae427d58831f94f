import type { Worker } from '../../fleet/files/workers.ts';
import { lookAtWorkers } from '../../fleet/live.ts';
import { typeText } from '../../fleet/worker-window.ts';
import type { Pane, Tmux } from '../../os/terminal/tmux.ts';
import { requirePerson } from '../kernel/people.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWindow, needWorker, openWindows } from './context.ts';
import type { allOptions, sendOptions } from './options.ts';

type Window = { readonly pane: Pane; readonly tmux: Tmux };

/** `swarm send NAME TEXT`, or `swarm send --all TEXT`. */
export async function mainSend(
  context: Context,
  { values, args }: Input<typeof sendOptions>,
): Promise<number> {
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
  return 0;
}

/** `swarm interrupt` presses Ctrl-C, `swarm eof` Ctrl-D. */
export function pressKey(key: 'C-c' | 'C-d', message: string) {
  return {
    async main(context: Context, { values, args }: Input<typeof allOptions>): Promise<number> {
      await each(context, args[0], values.all === true, async (worker, { tmux, pane }) => {
        await tmux.sendKeys(pane.id, key);
        context.stdout.write(`${message} ${worker.name}\n`);
      });
      return 0;
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
  if (!all) {
    const without = 'worker name required when not using --all';
    const worker = await needWorker(context, name, { without });
    return use(worker, await needWindow(context, worker));
  }
  const lives = await lookAtWorkers(context.env, await allWorkers(context));
  for (const { worker, ...window } of openWindows(context, lives)) await use(worker, window);
}
