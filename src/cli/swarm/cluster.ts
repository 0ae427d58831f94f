import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import { isOpen } from '../../fleet/files/loops.ts';
import { ago, stamp } from '../../fleet/files/time.ts';
import { stateWord } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal, createTerminalCleaner } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault, warn } from './context.ts';
import { limitsText } from './limits.ts';
import { followMs, followScreen, lastLines } from './logs.ts';
import { needClusterLoop, withCluster } from './open-cluster.ts';
import type {
  cleanOptions,
  killOptions,
  limitsOptions,
  logsOptions,
  lsOptions,
  ralphLogsOptions,
  waitOptions,
} from './options.ts';
import { writeList } from './table.ts';
import { clusterEntries, waitUntilOver } from './wait-entries.ts';

// Commands that do something else in a cluster than on one machine.

export function kill(context: Context, { values, args }: Input<typeof killOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const views = values.all
      ? (await cluster.list()).filter(isOpen)
      : [await needClusterLoop(cluster, args[0])];
    for (const { name } of views) {
      await cluster.cancel(name);
      context.stdout.write(`killed ${name}\n`);
    }
    return 0;
  });
}

export function wait(context: Context, { values, args }: Input<typeof waitOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const only = values.all ? null : (await needClusterLoop(cluster, args[0])).name;
    return waitUntilOver(context, () => clusterEntries(cluster, only), values);
  });
}

export function clean(context: Context, { values, args }: Input<typeof cleanOptions>): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const views = values.all ? await cluster.list() : [await needClusterLoop(cluster, args[0])];
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
    context.stdout.write(cleanTerminal(limitsText(await cluster.limits())));
    return 0;
  });
}

export function ls(context: Context, { values }: Input<typeof lsOptions>): Promise<number> {
  const { format, status = 'all', tag } = values;
  return withCluster(context, values, async (cluster) => {
    const views = (await cluster.list())
      .filter(({ tags }) => tag === undefined || tags.includes(tag))
      .filter((view) => status === 'all' || isOpen(view) === (status === 'running'));
    return writeList(context, format, {
      names: views.map(({ name }) => name),
      json: () => views.map(workerJson),
      head: ['NAME', 'STATUS', 'HOST', 'ITERATION', 'STARTED', 'BRANCH', 'TAG'],
      rows: () =>
        views.map((view) => [
          view.name,
          isOpen(view) ? 'running' : stateWord(view.why.state),
          view.host ?? '-',
          `${view.iteration}/${view.maxIterations}`,
          ago(systemClock.now() - view.startedAt),
          view.branch,
          view.tags.join(',') || '-',
        ]),
    });
  });
}

/** The fields of a local worker, and where the loop is. */
function workerJson(view: ClusterView) {
  return {
    name: view.name,
    status: isOpen(view) ? 'running' : 'stopped',
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

export function logs(context: Context, { values, args }: Input<typeof logsOptions>): Promise<number> {
  const { follow = false, history = false, lines = 1000 } = values;
  return withCluster(context, values, async (cluster) => {
    const { name } = await needClusterLoop(cluster, args[0]);
    if (history) return showRecords(context, cluster, name);
    const tail = async () => cleanTerminal((await cluster.tail(name)) ?? '').trimEnd();
    if (follow) return followScreen(context, tail);
    const text = lastLines(await tail(), lines);
    if (text === '') throw fault(`nothing was printed yet by '${name}'`, `swarm why ${name}`);
    context.stdout.write(`${text}\n`);
    return 0;
  });
}

/** Shows all that the machines have of a loop's output; the store has only the end of it. */
async function showRecords(context: Context, cluster: Cluster, name: string): Promise<number> {
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
  if (last !== null) return 0;
  throw fault(`no machine that can be reached has a record of '${name}'`, `swarm why ${name}`);
}

/** `swarm ralph logs` */
export function loopLogs(
  context: Context,
  { values, args }: Input<typeof ralphLogsOptions>,
): Promise<number> {
  return withCluster(context, values, async (cluster) => {
    const { name } = await needClusterLoop(cluster, args[0]);
    const write = (lines: readonly string[]) =>
      context.stdout.write(lines.map((line) => `${cleanTerminal(line)}\n`).join(''));
    const lines = await cluster.log(name, values.lines);
    if (!values.live && lines.length === 0) throw fault(`no iterations yet for '${name}'`);
    write(lines);
    if (!values.live) return 0;
    let old = new Set(await cluster.log(name));
    for (;;) {
      await systemClock.sleep(followMs);
      const all = await cluster.log(name);
      write(all.filter((line) => !old.has(line)));
      old = new Set(all);
    }
  });
}
