import { agentNameOf } from '../../agents/registry.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { isOpen, type LoopRecord, loopOf, type Why } from '../../fleet/files/loops.ts';
import { readStamp } from '../../fleet/files/time.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { lookAtWorker } from '../../fleet/live.ts';
import { classify } from '../../fleet/screen/classify.ts';
import { nextCommand, whyNow } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { tmuxServer } from '../../os/terminal/tmux.ts';
import { writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { needWorker, warnOfDamage } from './context.ts';
import { eventText, type History, historyOf, readHistory, skippedTexts } from './history.ts';
import { missingMachine } from './missing-machine.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { whyOptions } from './options.ts';

/** What a worker is doing, on this machine or in a cluster. */
type WhyView = {
  readonly name: string;
  readonly why: Why;
  readonly loop: LoopRecord | null;
  readonly history: History;
  /** Only of a loop in a cluster. */
  readonly host?: string | null;
  readonly hints: readonly string[];
};

/** Shows what a worker is doing, and its timeline. */
export async function main(context: Context, { values, args }: Input<typeof whyOptions>): Promise<number> {
  const { name, host, why, loop, history, hints } = wantsCluster(context, values)
    ? await withCluster(context, values, (cluster) => clusterView(cluster, args[0]))
    : await localView(context, args[0]);
  const events = history.events.slice(-(values.lines ?? 50));
  if (values.format === 'json') {
    return writeJson(context, { name, host, why, events, skipped: history.skipped });
  }
  const count = loop === null ? '' : `, iteration ${loop.iteration}/${loop.settings.max_iterations}`;
  const lines = [
    `${name}: ${whyNow(why, systemClock.now())}${count}${host ? `, on ${host}` : ''}`,
    ...[...hints, ...skippedTexts(history)].map((text) => `  ${text}`),
    ...(events.length === 0 ? [] : ['', ...events.map(eventText)]),
  ];
  context.stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
  return 0;
}

async function localView(context: Context, word: string | undefined): Promise<WhyView> {
  const { env } = context;
  const worker = await needWorker(context, word);
  const { name } = worker;
  const loop = loopOf(env, worker);
  warnOfDamage(context, worker, loop);
  const gone = worker.metadata.ralph === true && loop === null ? { detail: 'its loop is gone' } : {};
  const why = loop?.why ?? { ...(await plainWhy(context, worker)), ...gone };
  const next = nextCommand(name, why);
  const history = readHistory(env, worker, loop);
  return { name, why, loop, history, hints: next === null ? [] : [`next: ${next}`] };
}

async function clusterView(cluster: Cluster, word: string | undefined): Promise<WhyView> {
  const loop = await needClusterLoop(cluster, word);
  const { name, host, why } = loop;
  const next = isOpen(loop) ? nextCommand(name, why) : null;
  const hosts = await cluster.hosts();
  const isHeld = hosts.some((one) => one.host === host && !one.gone);
  const missing = loop.status === 'running' && !isHeld ? missingMachine(hosts, loop) : null;
  const hints = [
    // There is no window to attach to.
    ...(next === null || next.startsWith('swarm attach') ? [] : [`next: ${next}`]),
    ...(missing === null ? [] : [missing]),
  ];
  return { name, host, why, loop, history: historyOf(await cluster.timeline(name)), hints };
}

/** A worker without a loop has no record: this looks at its window. */
async function plainWhy(context: Context, worker: Worker): Promise<Why> {
  const since = readStamp(worker.started) ?? systemClock.now();
  const { running, pane } = await lookAtWorker(context.env, worker);
  if (!running) return { state: 'stopped', since };
  if (pane === null || worker.tmux === null) return { state: 'working', since };
  const lines = await tmuxServer(worker.tmux.socket, context.env).capture(pane.id);
  const screen = classify(agentNameOf(worker.cmd[0] ?? ''), lines, systemClock.now());
  return { since, ...(screen ?? { state: 'working' }) };
}
