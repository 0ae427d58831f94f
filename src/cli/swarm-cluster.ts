import type { Cluster, ClusterView } from '../cluster/cluster.ts';
import { nextCommand, whyNow } from '../fleet/why.ts';
import { cleanTerminal, createTerminalCleaner } from '../safety/terminal.ts';
import type { LoopStatus } from '../store/fleet-loops.ts';
import { ago, showStamp, stamp } from '../store/fleet-time.ts';
import { systemClock } from '../system/clock.ts';
import type { Context, Input } from './spec.ts';
import { fault, warn } from './swarm-context.ts';
import { missingMachine, withCluster } from './swarm-engine.ts';
import { eventText } from './swarm-events.ts';
import type {
  cleanOptions,
  killOptions,
  limitsOptions,
  logsOptions,
  loopCommandOptions,
  lsOptions,
  ralphLogsOptions,
  ralphLsOptions,
  statusOptions,
  waitOptions,
  whyOptions,
} from './swarm-options.ts';
import { tableText } from './swarm-table.ts';

// The commands of `swarm` about a cluster: each prints what its local twin prints, and the machine.

const followMs = 1000;
const followLines = 30;
/** A machine that was not seen for that long is not asked. */
const hostSeenMs = 60_000;
const clearScreen = '\u001b[2J\u001b[H';

export function ls(context: Context, { values }: Input<typeof lsOptions>): Promise<number> {
  const { format = 'table', status = 'all', tag } = values;
  return withCluster(context, values, async (cluster) => {
    const views = (await cluster.list())
      .filter(({ tags }) => tag === undefined || tags.includes(tag))
      .filter((view) => status === 'all' || isOpen(view) === (status === 'running'));
    const rows = views.map((view) => [
      view.name,
      statusText(view),
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
    max_iterations: view.maxIterations,
    why: view.why,
    repo: view.repo,
    branch: view.branch,
    head: view.head,
    labels: view.labels,
    spent: view.spent,
  };
}

export function status(context: Context, { values, args }: Input<typeof statusOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const view = await needLoop(cluster, args[0], 2);
    const details = [
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
  const { fetchRecords } = await import('../cluster/records.ts');
  const now = systemClock.now();
  const hosts = await cluster.hosts();
  const there = hosts.filter(({ seenAt, loops }) => loops.length > 0 || now - seenAt < hostSeenMs);
  let shown: string | null = null;
  let cleaner = createTerminalCleaner();
  const silent = await fetchRecords(
    cluster,
    name,
    there.map(({ host }) => host),
    ({ title }, bytes) => {
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
    const events = await cluster.events(view.name, values.lines ?? 50);
    if (values.format === 'json') {
      const { name, host } = view;
      context.stdout.write(`${JSON.stringify({ name, host, why: view.why, events }, null, 2)}\n`);
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
      ...(events.length === 0 ? [] : ['', ...events.map(eventText)]),
    ];
    context.stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
    return 0;
  });
}

export function kill(context: Context, { values, args }: Input<typeof killOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or --all');
  return withCluster(context, values, async (cluster) => {
    const views = values.all ? (await cluster.list()).filter(isOpen) : [await needLoop(cluster, args[0])];
    for (const { name } of views) {
      await cluster.cancel(name);
      context.stdout.write(`killed ${name}\n`);
    }
    return 0;
  });
}

export function wait(context: Context, { values, args }: Input<typeof waitOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('name required (or use --all)');
  return withCluster(context, values, async (cluster) => {
    const wanted = values.all ? await cluster.list() : [await needLoop(cluster, args[0])];
    let pending = new Set(wanted.filter((view) => isOpen(view) || !values.all).map(({ name }) => name));
    const deadline = systemClock.monotonic() + (values.timeout ?? Number.POSITIVE_INFINITY);
    for (;;) {
      const open = new Set((await cluster.list()).filter(isOpen).map(({ name }) => name));
      for (const name of pending) if (!open.has(name)) context.stdout.write(`${name}: exited\n`);
      pending = new Set([...pending].filter((name) => open.has(name)));
      if (pending.size === 0) return 0;
      if (systemClock.monotonic() >= deadline) break;
      await systemClock.sleep(Math.min(followMs, Math.max(1, deadline - systemClock.monotonic())));
    }
    for (const name of pending) context.stdout.write(`${name}: still running (timeout)\n`);
    return 1;
  });
}

export function clean(context: Context, { values, args }: Input<typeof cleanOptions>): Promise<number> {
  if (!values.all && args[0] === undefined) throw fault('must specify worker name or use --all');
  return withCluster(context, values, async (cluster) => {
    const views = values.all ? await cluster.list() : [await needLoop(cluster, args[0])];
    for (const view of views) {
      if (await cluster.forget(view.name)) context.stdout.write(`cleaned ${view.name}\n`);
      else if (values.all) warn(context, `skipping '${view.name}' (still running)`);
      else throw fault(`cannot clean running worker '${view.name}'`, `swarm kill ${view.name}`);
    }
    return 0;
  });
}

export function limits(context: Context, { values }: Input<typeof limitsOptions>): Promise<number> {
  const { release, unlimited = false } = values;
  const [max, starts, cost] = [values['max-parallel'], values['starts-per-minute'], values['max-cost']];
  return withCluster(context, values, async (cluster) => {
    await cluster.setLimits({
      ...(unlimited ? { maxParallel: null, startsPerMinute: null, maxCostUsd: null } : {}),
      ...(max === undefined ? {} : { maxParallel: max }),
      ...(starts === undefined ? {} : { startsPerMinute: starts }),
      ...(cost === undefined ? {} : { maxCostUsd: cost }),
    });
    if (release !== undefined && !(await cluster.releaseAccount(release))) {
      throw fault(`no loop waits for the account '${release}'`, 'swarm limits');
    }
    const { maxParallel, startsPerMinute, maxCostUsd, spentUsd, holds } = await cluster.limits();
    const held = Object.entries(holds).filter(([, until]) => until > systemClock.now());
    const lines = [
      `at the same time: ${maxParallel === null ? 'any number of iterations' : `at most ${maxParallel}`}`,
      ...(startsPerMinute === null ? [] : [`in a minute: at most ${startsPerMinute} begin`]),
      ...(maxCostUsd === null ? [] : [`cost: $${spentUsd.toFixed(2)} of $${maxCostUsd.toFixed(2)} spent`]),
      ...held.map(([account, until]) => `account ${account}: usage limit until ${showStamp(stamp(until))}`),
    ];
    context.stdout.write(cleanTerminal(`${lines.join('\n')}\n`));
    return 0;
  });
}

export function pause(context: Context, { values, args }: Input<typeof loopCommandOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name, status: before } = await needLoop(cluster, args[0]);
    const { changed } = await cluster.pause(name);
    if (changed) context.stdout.write(`paused ralph loop for ${name}\n`);
    else if (before === 'paused') warn(context, `worker '${name}' is already paused`);
    else warn(context, `worker '${name}' is not running (${before})`);
    return 0;
  });
}

export function resume(
  context: Context,
  { values, args }: Input<typeof loopCommandOptions>,
): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name, status: before } = await needLoop(cluster, args[0]);
    const { changed } = await cluster.resume(name);
    if (changed) context.stdout.write(`resumed ralph loop for ${name}\n`);
    else warn(context, `worker '${name}' is not paused`);
    return !changed && isOver(before) ? 1 : 0;
  });
}

export function stop(context: Context, { values, args }: Input<typeof loopCommandOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name } = await needLoop(cluster, args[0]);
    await cluster.cancel(name);
    context.stdout.write(`stopped ralph loop for ${name}\n`);
    return 0;
  });
}

export function loopStatus(
  context: Context,
  { values, args }: Input<typeof loopCommandOptions>,
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
      `Why: ${view.why.state}${view.why.detail === undefined ? '' : ` (${view.why.detail})`}`,
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
      view.why.state,
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

export async function needLoop(
  cluster: Cluster,
  name: string | undefined,
  exitCode = 1,
): Promise<ClusterView> {
  if (name === undefined) throw fault('a worker name is required');
  const view = await cluster.status(name);
  if (view === null) throw fault(`worker '${name}' not found`, 'swarm ls', exitCode);
  return view;
}

function statusText(view: ClusterView): 'running' | 'stopped' {
  return isOpen(view) ? 'running' : 'stopped';
}

function iterationText({ iteration, maxIterations }: ClusterView): string {
  return `${iteration}/${maxIterations}`;
}

function isOpen({ status: now }: ClusterView): boolean {
  return !isOver(now);
}

function isOver(now: LoopStatus): boolean {
  return now === 'stopped' || now === 'failed';
}
