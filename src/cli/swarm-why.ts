import { agentNameOf } from '../agents/registry.ts';
import { lookAtWorker } from '../fleet/live.ts';
import { classify } from '../fleet/screen/classify.ts';
import { nextCommand, whyNow } from '../fleet/why.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { readFleetEvents } from '../store/fleet-events.ts';
import { readLoop, type Why } from '../store/fleet-loops.ts';
import { loopPaths } from '../store/fleet-paths.ts';
import { readStamp } from '../store/fleet-time.ts';
import type { Worker } from '../store/fleet-workers.ts';
import { systemClock } from '../system/clock.ts';
import { tmuxServer } from '../system/tmux.ts';
import type { Context, Input } from './spec.ts';
import { needWorker } from './swarm-context.ts';
import { wantsEngine } from './swarm-engine.ts';
import { eventText } from './swarm-events.ts';
import type { whyOptions } from './swarm-options.ts';

/** What a worker is doing, and how it came to that. */
export async function main(context: Context, input: Input<typeof whyOptions>): Promise<number> {
  if (wantsEngine(context, input.values))
    return (await import('./swarm-cluster-views.ts')).why(context, input);
  const { values, args } = input;
  const { env, stdout } = context;
  const worker = await needWorker(context, args[0]);
  const loop = worker.metadata.ralph === true ? readLoop(env, worker.name) : null;
  const gone = worker.metadata.ralph === true && loop === null ? { detail: 'its loop is gone' } : {};
  const why = loop?.why ?? { ...(await plainWhy(context, worker)), ...gone };
  const events = readFleetEvents(loopPaths(env, worker.name).events).slice(-(values.lines ?? 50));
  if (values.format === 'json') {
    stdout.write(`${JSON.stringify({ name: worker.name, why, events }, null, 2)}\n`);
    return 0;
  }
  const count = loop === null ? '' : `, iteration ${loop.iteration}/${loop.settings.max_iterations}`;
  const lines = [`${worker.name}: ${whyNow(why, systemClock.now())}${count}`];
  const next = nextCommand(worker.name, why);
  if (next !== null) lines.push(`  next: ${next}`);
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
