import { agentNameOf } from '../../agents/registry.ts';
import { loopOf, type Why } from '../../fleet/files/loops.ts';
import { readStamp } from '../../fleet/files/time.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { lookAtWorker } from '../../fleet/live.ts';
import { classify } from '../../fleet/screen/classify.ts';
import { nextCommand, whyNow } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { tmuxServer } from '../../os/terminal/tmux.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needWorker } from './context.ts';
import { eventText, readTold, skippedTexts } from './events.ts';
import { wantsCluster } from './open-cluster.ts';
import type { whyOptions } from './options.ts';

/** What a worker is doing, and how it came to that. */
export async function main(context: Context, input: Input<typeof whyOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster-views.ts')).why(context, input);
  const { values, args } = input;
  const { env, stdout } = context;
  const worker = await needWorker(context, args[0]);
  const loop = loopOf(env, worker);
  const gone = worker.metadata.ralph === true && loop === null ? { detail: 'its loop is gone' } : {};
  const why = loop?.why ?? { ...(await plainWhy(context, worker)), ...gone };
  const told = readTold(env, worker, loop);
  const events = told.events.slice(-(values.lines ?? 50));
  if (values.format === 'json') {
    const { skipped } = told;
    stdout.write(`${JSON.stringify({ name: worker.name, why, events, skipped }, null, 2)}\n`);
    return 0;
  }
  const count = loop === null ? '' : `, iteration ${loop.iteration}/${loop.settings.max_iterations}`;
  const lines = [`${worker.name}: ${whyNow(why, systemClock.now())}${count}`];
  const next = nextCommand(worker.name, why);
  if (next !== null) lines.push(`  next: ${next}`);
  lines.push(...skippedTexts(told).map((text) => `  ${text}`));
  if (events.length > 0) lines.push('', ...events.map(eventText));
  stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
  return 0;
}

/** A worker without a loop has no record of its own: its window is looked at. */
async function plainWhy(context: Context, worker: Worker): Promise<Why> {
  const since = readStamp(worker.started) ?? systemClock.now();
  const { running, pane } = await lookAtWorker(context.env, worker);
  if (!running) return { state: 'stopped', since };
  if (pane === null || worker.tmux === null) return { state: 'working', since };
  const lines = await tmuxServer(worker.tmux.socket, context.env).capture(pane.id);
  const screen = classify(agentNameOf(worker.cmd[0] ?? ''), lines, systemClock.now());
  return { since, ...(screen ?? { state: 'working' }) };
}
