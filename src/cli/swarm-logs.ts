import { RalphError } from '../core/error.ts';
import { lookAtWorker } from '../fleet/live.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { logPaths } from '../store/fleet-paths.ts';
import type { Worker } from '../store/fleet-workers.ts';
import { systemClock } from '../system/clock.ts';
import { tailFile } from '../system/tail-file.ts';
import { tmuxServer } from '../system/tmux.ts';
import type { Context, Input } from './spec.ts';
import { fault, needWorker } from './swarm-context.ts';
import { wantsEngine } from './swarm-engine.ts';
import type { logsOptions } from './swarm-options.ts';

const followMs = 1000;
const followLines = 30;
const clearScreen = '\u001b[2J\u001b[H';

export async function main(context: Context, input: Input<typeof logsOptions>): Promise<number> {
  if (wantsEngine(context, input.values)) return (await import('./swarm-cluster.ts')).logs(context, input);
  const { values, args } = input;
  const worker = await needWorker(context, args[0]);
  const { follow = false, history = false, lines = 1000 } = values;
  if (worker.tmux === null) return showFile(context, worker, follow);
  const above = history ? lines : 0;
  if (!follow) {
    context.stdout.write(`${await screenOf(context, worker, above)}\n`);
    return 0;
  }
  let shown = '';
  for (;;) {
    const screen = (await screenOf(context, worker, above)).split('\n').slice(-followLines).join('\n');
    if (screen !== shown) context.stdout.write(`${context.stdout.isTTY ? clearScreen : ''}${screen}\n`);
    shown = screen;
    await systemClock.sleep(followMs);
  }
}

async function screenOf(context: Context, worker: Worker, history: number): Promise<string> {
  const { pane } = await lookAtWorker(context.env, worker);
  if (pane === null || worker.tmux === null) {
    throw fault(`worker '${worker.name}' has no window any more`, `swarm respawn ${worker.name}`);
  }
  const lines = await tmuxServer(worker.tmux.socket, context.env).capture(pane.id, history);
  return cleanTerminal(lines.join('\n')).trimEnd();
}

async function showFile(context: Context, worker: Worker, follow: boolean): Promise<number> {
  const { stdout } = logPaths(context.env, worker.name);
  const found = await tailFile(stdout, { follow, onData: (bytes) => void context.stdout.write(bytes) });
  if (found) return 0;
  throw new RalphError('no-logs', `no logs found for ${worker.name}`, { exitCode: 1 });
}
