import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import { ago, showStamp, stamp } from '../../fleet/files/time.ts';
import { nextCommand, stateWord, whyNow, whyText } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal, createTerminalCleaner } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';
import { eventText, skippedTexts, toldBy } from './events.ts';
import { isOpen, missingMachine, needLoop, withCluster } from './open-cluster.ts';
import type {
  clusterOptions,
  logsOptions,
  lsOptions,
  ralphLogsOptions,
  ralphLsOptions,
  whyOptions,
} from './options.ts';
import { tableText } from './table.ts';

// What `swarm` shows of a cluster: each command prints what its local twin prints, and the machine.

const followMs = 1000;
const followLines = 30;
const clearScreen = '\u001b[2J\u001b[H';

export function ls(context: Context, { values }: Input<typeof lsOptions>): Promise<number> {
  const { format = 'table', status = 'all', tag } = values;
  return withCluster(context, values, async (cluster) => {
    const views = (await cluster.list())
      .filter(({ tags }) => tag === undefined || tags.includes(tag))
      .filter((view) => status === 'all' || isOpen(view) === (status === 'running'));
    const rows = views.map((view) => [
      view.name,
      isOpen(view) ? 'running' : stateWord(view.why.state),
      view.host ?? '-',
      iterationText(view),
      ago(systemClock.now() - view.startedAt),
      view.branch,
      view.tags.join(',') || '-',
    ]);
    const head = ['NAME', 'STATUS', 'HOST', 'ITERATION', 'STARTED', 'BRANCH', 'TAG'];
    if (format === 'json') context.stdout.write(`${JSON.stringify(views.map(workerJson), null, 2)}\n`);
    else if (format === 'names') context.stdout.write(views.map(({ name }) => `${name}\n`).join(''));
    else context.stdout.write(tableText(head, rows));
    return 0;
  });
}

/** The fields of a local worker, and where it is. */
function workerJson(view: ClusterView) {
  return {
    name: view.name,
    status: statusText(view),
    cmd: view.command,
    started: stamp(view.startedAt),
    cwd: null,
    env: {},
    tags: view.tags,
    tmux: null,
    worktree: null,
    pid: null,
    metadata: { ralph: true, ralph_iteration: view.iteration },
    host: view.host,
    loop: view.status,
    end: view.end,
    max_iterations: view.maxIterations,
    why: view.why,
    repo: view.repo,
    branch: view.branch,
    head: view.head,
    labels: view.labels,
    spent: view.spent,
  };
}

export function status(context: Context, { values, args }: Input<typeof clusterOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const view = await needLoop(cluster, args[0], 2);
    const details = [
      ...(view.end === null ? [] : [stateWord(view.why.state)]),
      ...(view.host === null ? [] : [`host ${view.host}`]),
      `iteration ${iterationText(view)}`,
      `branch ${view.branch}`,
      `uptime ${ago(systemClock.now() - view.startedAt)}`,
    ];
    context.stdout.write(cleanTerminal(`${view.name}: ${statusText(view)} (${details.join(', ')})\n`));
    return isOpen(view) ? 0 : 1;
  });
}

export function logs(context: Context, { values, args }: Input<typeof logsOptions>): Promise<number> {
  const { follow = false, history = false, lines = 1000 } = values;
  return withCluster(context, values, async (cluster) => {
    const { name } = await needLoop(cluster, args[0]);
    if (history) return showRecords(context, cluster, name);
    let shown: string | null = null;
    for (;;) {
      const text = cleanTerminal((await cluster.tail(name)) ?? '').trimEnd();
      const screen = text
        .split('\n')
        .slice(follow ? -followLines : -lines)
        .join('\n');
      if (!follow && screen === '') throw fault(`nothing was printed yet by '${name}'`, `swarm why ${name}`);
      const clear = follow && context.stdout.isTTY ? clearScreen : '';
      if (screen !== shown) context.stdout.write(`${clear}${screen}\n`);
      if (!follow) return 0;
      shown = screen;
      await systemClock.sleep(followMs);
    }
  });
}

/** The store has the end of it only: the machines have all of it. */
async function showRecords(context: Context, cluster: Cluster, name: string): Promise<number> {
  const { fetchRecords } = await import('../../cluster/records.ts');
  const hosts = await cluster.hosts();
  const there = hosts.filter(({ gone, loops }) => loops.length > 0 || !gone);
  let shown: string | null = null;
  let cleaner = createTerminalCleaner();
  const silent = await fetchRecords(
    cluster,
    name,
    there.map(({ host }) => host),
    (title, bytes) => {
      if (title !== shown) {
        context.stdout.write(cleanTerminal(`${shown === null ? '' : '\n'}== ${title} ==\n`));
        cleaner = createTerminalCleaner();
      }
      shown = title;
      context.stdout.write(cleaner.push(bytes.toString('utf8')));
    },
  );
  const away = hosts.filter((one) => !there.includes(one)).map(({ host }) => host);
  const missing = [...silent, ...away];
  if (missing.length > 0) warn(context, `what these machines have of it is missing: ${missing.join(', ')}`);
  if (shown !== null) return 0;
  throw fault(`no machine that can be reached has a record of '${name}'`, `swarm why ${name}`);
}

export function why(context: Context, { values, args }: Input<typeof whyOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const view = await needLoop(cluster, args[0]);
    const told = toldBy(await cluster.timeline(view.name));
    const events = told.events.slice(-(values.lines ?? 50));
    if (values.format === 'json') {
      const { name, host } = view;
      const { skipped } = told;
      context.stdout.write(`${JSON.stringify({ name, host, why: view.why, events, skipped }, null, 2)}\n`);
      return 0;
    }
    const place = view.host === null ? '' : `, on ${view.host}`;
    const now = whyNow(view.why, systemClock.now());
    const next = isOpen(view) ? nextCommand(view.name, view.why) : null;
    const hosts = await cluster.hosts();
    const isHeld = hosts.some(({ host, gone }) => host === view.host && !gone);
    const missing = view.status === 'running' && !isHeld ? missingMachine(hosts, view.labels) : null;
    const lines = [
      `${view.name}: ${now}, iteration ${iterationText(view)}${place}`,
      ...(next === null || next.startsWith('swarm attach') ? [] : [`  next: ${next}`]),
      ...(missing === null ? [] : [`  ${missing}`]),
      ...skippedTexts(told).map((text) => `  ${text}`),
      ...(events.length === 0 ? [] : ['', ...events.map(eventText)]),
    ];
    context.stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
    return 0;
  });
}

export function loopStatus(
  context: Context,
  { values, args }: Input<typeof clusterOptions>,
): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const view = await needLoop(cluster, args[0]);
    const began = view.iterationStartedAt;
    const lines = [
      `Ralph Loop: ${view.name}`,
      `Status: ${view.status}`,
      `Iteration: ${iterationText(view)}`,
      `Started: ${showStamp(stamp(view.startedAt))}`,
      ...(began === null ? [] : [`Current iteration started: ${showStamp(stamp(began))}`]),
      `Consecutive failures: ${view.failures}`,
      `Total failures: ${view.totalFailures}`,
      `Host: ${view.host ?? '-'}`,
      `Repository: ${view.repo}`,
      `Branch: ${view.branch}${view.head === null ? '' : ` (${view.head.slice(0, 12)})`}`,
      `Why: ${whyText(view.why, systemClock.now())}`,
      ...skippedTexts(toldBy(await cluster.timeline(view.name))).map((text) => `Skipped: ${text}`),
    ];
    context.stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
    return 0;
  });
}

export function loopLs(context: Context, { values }: Input<typeof ralphLsOptions>): Promise<number> {
  const { format = 'table', status: only = 'all' } = values;
  return withCluster(context, values, async (cluster) => {
    const views = (await cluster.list()).filter((view) => only === 'all' || view.status === only);
    const rows = views.map((view) => [
      view.name,
      view.status,
      iterationText(view),
      String(view.totalFailures),
      whyText(view.why, systemClock.now()),
      view.host ?? '-',
    ]);
    const head = ['NAME', 'STATUS', 'ITERATION', 'FAILURES', 'WHY', 'HOST'];
    if (format === 'json') context.stdout.write(`${JSON.stringify(views, null, 2)}\n`);
    else if (format === 'names') context.stdout.write(views.map(({ name }) => `${name}\n`).join(''));
    else context.stdout.write(tableText(head, rows));
    return 0;
  });
}

export function loopLogs(
  context: Context,
  { values, args }: Input<typeof ralphLogsOptions>,
): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name } = await needLoop(cluster, args[0]);
    let shown: readonly string[] = [];
    for (let first = true; ; first = false) {
      const lines = await cluster.log(name, first ? values.lines : undefined);
      if (first && !values.live && lines.length === 0) throw fault(`no iterations yet for '${name}'`);
      const known = new Set(shown);
      const fresh = lines.filter((line) => !known.has(line));
      context.stdout.write(fresh.map((line) => `${cleanTerminal(line)}\n`).join(''));
      if (!values.live) return 0;
      shown = first ? await cluster.log(name) : lines;
      await systemClock.sleep(followMs);
    }
  });
}

function statusText(view: ClusterView): 'running' | 'stopped' {
  return isOpen(view) ? 'running' : 'stopped';
}

function iterationText({ iteration, maxIterations }: ClusterView): string {
  return `${iteration}/${maxIterations}`;
}
