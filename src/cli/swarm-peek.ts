import { lookAtWorkers } from '../fleet/live.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import type { Pane, Tmux } from '../system/tmux.ts';
import type { Context, Input } from './spec.ts';
import { allWorkers, needWindow, needWorker, openWindows } from './swarm-context.ts';
import type { peekOptions } from './swarm-options.ts';

export async function main(context: Context, { values, args }: Input<typeof peekOptions>): Promise<number> {
  const { lines = 30, all = false } = values;
  if (!all) {
    const worker = await needWorker(context, args[0], {
      exitCode: 2,
      without: 'a name or --all is required',
    });
    const { pane, tmux } = await needWindow(context, worker);
    context.stdout.write(`${await lastLines(tmux, pane, lines)}\n`);
    return 0;
  }
  const lives = await lookAtWorkers(context.env, await allWorkers(context));
  for (const { worker, pane, tmux } of openWindows(context, lives)) {
    context.stdout.write(`=== ${worker.name} ===\n${await lastLines(tmux, pane, lines)}\n\n`);
  }
  return 0;
}

async function lastLines(tmux: Tmux, pane: Pane, count: number): Promise<string> {
  const text = cleanTerminal((await tmux.capture(pane.id, count)).join('\n')).trimEnd();
  return text.split('\n').slice(-count).join('\n');
}
