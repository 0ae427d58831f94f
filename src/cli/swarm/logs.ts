import type { Cluster } from '../../cluster/cluster.ts';
import { RalphError } from '../../core/error.ts';
import { logPaths } from '../../fleet/files/paths.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { type Live, lookAtWorker, lookAtWorkers } from '../../fleet/live.ts';
import { systemClock } from '../../os/clock.ts';
import { tailFile } from '../../os/files/tail-file.ts';
import { cleanTerminal, createTerminalCleaner } from '../../os/terminal/clean-terminal.ts';
import { type Pane, tmuxServer } from '../../os/terminal/tmux.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker, warn } from './context.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';
import type { logsOptions, peekOptions } from './options.ts';

const historyLines = 1000;
const followMs = 1000;
const followLines = 30;
const clearScreen = '\u001b[2J\u001b[H';

export async function main(context: Context, input: Input<typeof logsOptions>): Promise<void> {
  if (wantsCluster(context, input.values)) return logsInCluster(context, input);
  const { values, args } = input;
  const worker = await needWorker(context, args[0]);
  const { follow = false, history = false, lines } = values;
  if (worker.tmux === null) return showFiles(context, worker, follow, lines);
  const above = history ? (lines ?? historyLines) : (lines ?? 0);
  if (follow) return followScreen(context, () => screenOf(context, worker, above), lines);
  const screen = await screenOf(context, worker, above);
  context.stdout.write(`${history || lines === undefined ? screen : lastLines(screen, lines)}\n`);
}

/** Writes the last lines of a screen whenever they change, until a signal ends the program. */
async function followScreen(
  { stdout }: Context,
  capture: () => Promise<string>,
  lines = followLines,
): Promise<never> {
  let last = '';
  for (;;) {
    const screen = lastLines(await capture(), lines);
    if (screen !== last) stdout.write(`${stdout.isTTY ? clearScreen : ''}${screen}\n`);
    last = screen;
    await systemClock.sleep(followMs);
  }
}

function logsInCluster(context: Context, { values, args }: Input<typeof logsOptions>): Promise<void> {
  const { follow = false, history = false, lines = 1000 } = values;
  return withCluster(context, values, async (cluster) => {
    const { name } = await needClusterLoop(cluster, args[0]);
    if (history) return showRecords(context, cluster, name);
    const tail = async () => cleanTerminal((await cluster.tail(name)) ?? '').trimEnd();
    if (follow) return followScreen(context, tail);
    const text = lastLines(await tail(), lines);
    if (text === '') throw fault(`nothing was printed yet by '${name}'`, `swarm why ${name}`);
    context.stdout.write(`${text}\n`);
  });
}

/** Shows all that the machines have of a loop's output; the store has only the end of it. */
async function showRecords(context: Context, cluster: Cluster, name: string): Promise<void> {
  const { fetchRecords } = await import('../../cluster/records.ts');
  const hosts = await cluster.hosts();
  const reachable = hosts.filter(({ gone, loops }) => loops.length > 0 || !gone);
  const away = hosts.filter((one) => !reachable.includes(one));
  let last: string | null = null;
  let cleaner = createTerminalCleaner();
  const show = (title: string, bytes: Buffer) => {
    if (title !== last) {
      context.stdout.write(cleanTerminal(`${last === null ? '' : '\n'}== ${title} ==\n`));
      cleaner = createTerminalCleaner();
    }
    last = title;
    context.stdout.write(cleaner.push(bytes.toString('utf8')));
  };
  const hostNames = reachable.map(({ host }) => host);
  const silent = await fetchRecords(cluster, name, hostNames, show);
  const missing = [...silent, ...away.map(({ host }) => host)];
  if (missing.length > 0) warn(context, `what these machines have of it is missing: ${missing.join(', ')}`);
  if (last !== null) return;
  throw fault(`no machine that can be reached has a record of '${name}'`, `swarm why ${name}`);
}

async function screenOf(context: Context, worker: Worker, history: number): Promise<string> {
  const { pane } = await lookAtWorker(context.env, worker);
  if (pane === null) {
    throw fault(`worker '${worker.name}' has no window any more`, `swarm respawn ${worker.name}`);
  }
  return capture(context, worker, pane, history);
}

async function capture({ env }: Context, { tmux }: Worker, { id }: Pane, history: number): Promise<string> {
  const lines = await tmuxServer(tmux?.socket ?? null, env).capture(id, history);
  return cleanTerminal(lines.join('\n')).trimEnd();
}

function lastLines(text: string, count: number): string {
  return text.split('\n').slice(-count).join('\n');
}

async function showFiles(context: Context, { name }: Worker, follow: boolean, lines?: number) {
  const paths = logPaths(context.env, name);
  const show = (output: 'stdout' | 'stderr') => {
    const onData = (bytes: Buffer) => void context[output].write(bytes);
    return tailFile(paths[output], { follow, onData, ...(lines === undefined ? {} : { lines }) });
  };
  const exist = await Promise.all([show('stdout'), show('stderr')]);
  if (exist.includes(true)) return;
  throw new RalphError('no-logs', `no logs found for ${name}`, { exitCode: 1 });
}

export async function peek(context: Context, { values, args }: Input<typeof peekOptions>): Promise<void> {
  const { lines = 30, all = false } = values;
  const without = 'a name or --all is required';
  const workers = all
    ? await allWorkers(context)
    : [await needWorker(context, args[0], { exitCode: 2, without })];
  for (const live of await lookAtWorkers(context.env, workers)) {
    const { name } = live.worker;
    const text = await tailOf(context, live, lines);
    if (text !== null) context.stdout.write(all ? `=== ${name} ===\n${text}\n\n` : `${text}\n`);
    else if (!all) throw fault(`worker '${name}' is not running`);
  }
}

/** The last lines in the window or the log of a worker that runs; null for any other. */
async function tailOf(context: Context, { worker, pane, running }: Live, count: number) {
  if (!running) return null;
  if (worker.tmux === null) {
    const parts: Buffer[] = [];
    const onData = (bytes: Buffer) => void parts.push(bytes);
    await tailFile(logPaths(context.env, worker.name).stdout, { follow: false, lines: count, onData });
    return cleanTerminal(Buffer.concat(parts).toString('utf8')).trimEnd();
  }
  if (pane === null || pane.dead) return null;
  return lastLines(await capture(context, worker, pane, count), count);
}
