import { logPaths } from '../../fleet/files/paths.ts';
import { type Live, lookAtWorker, lookAtWorkers } from '../../fleet/live.ts';
import { tailFile } from '../../os/files/tail-file.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { tmuxServer } from '../../os/terminal/tmux.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker } from './context.ts';
import { lastLines } from './logs.ts';
import type { peekOptions } from './options.ts';

export async function main(context: Context, { values, args }: Input<typeof peekOptions>): Promise<number> {
  const { lines = 30, all = false } = values;
  const { env, stdout } = context;
  if (all) {
    for (const live of await lookAtWorkers(env, await allWorkers(context))) {
      const text = await tailOf(context, live, lines);
      if (text !== null) stdout.write(`=== ${live.worker.name} ===\n${text}\n\n`);
    }
    return 0;
  }
  const without = 'a name or --all is required';
  const worker = await needWorker(context, args[0], { exitCode: 2, without });
  const text = await tailOf(context, await lookAtWorker(env, worker), lines);
  if (text === null) throw fault(`worker '${worker.name}' is not running`);
  stdout.write(`${text}\n`);
  return 0;
}

/** The last lines in the window or the log of a worker that runs; null for any other. */
async function tailOf(
  { env }: Context,
  { worker, pane, running }: Live,
  count: number,
): Promise<string | null> {
  if (!running) return null;
  if (worker.tmux === null) {
    const parts: Buffer[] = [];
    const onData = (bytes: Buffer) => void parts.push(bytes);
    await tailFile(logPaths(env, worker.name).stdout, { follow: false, lines: count, onData });
    return cleanTerminal(Buffer.concat(parts).toString('utf8')).trimEnd();
  }
  if (pane === null || pane.dead) return null;
  const screen = await tmuxServer(worker.tmux.socket, env).capture(pane.id, count);
  return lastLines(cleanTerminal(screen.join('\n')).trimEnd(), count);
}
