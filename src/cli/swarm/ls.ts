import type { ClusterView } from '../../cluster/cluster.ts';
import { newerRecord } from '../../cluster/store.ts';
import { type LoopRecord, readLoopRecord } from '../../fleet/files/loops.ts';
import { ago, readStamp, stamp } from '../../fleet/files/time.ts';
import { type Worker, worktreeOf } from '../../fleet/files/workers.ts';
import { runningNow } from '../../fleet/live.ts';
import { stateWord } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers, warn, warnOfDamage } from './context.ts';
import { wantsCluster, withCluster } from './open-cluster.ts';
import type { lsOptions } from './options.ts';
import { writeList } from './table.ts';

export async function main(context: Context, input: Input<typeof lsOptions>): Promise<void> {
  if (wantsCluster(context, input.values)) return listCluster(context, input);
  const { format, status = 'all', tag } = input.values;
  const tagged = (await allWorkers(context)).filter(({ tags }) => tag === undefined || tags.includes(tag));
  const running = await runningNow(context.env, tagged);
  const list = tagged
    .map((worker, index) => ({ worker, running: running[index] === true }))
    .filter((entry) => status === 'all' || entry.running === (status === 'running'));
  const withLoops = () =>
    list.map((entry) => {
      // A list of many has to be quick: only a loop that does not run is read.
      const isOver = !entry.running && entry.worker.metadata.ralph === true;
      const loop = isOver ? readLoopRecord(context.env, entry.worker.name) : null;
      if (isOver) warnOfDamage(context, entry.worker, loop);
      return { ...entry, loop };
    });
  return writeList(context, format, {
    names: list.map(({ worker }) => worker.name),
    json: () => withLoops().map(workerJson),
    head: ['NAME', 'STATUS', 'PID/WINDOW', 'STARTED', 'WORKTREE', 'TAG'],
    rows: () => withLoops().map(row),
  });
}

function listCluster(context: Context, { values }: Input<typeof lsOptions>): Promise<void> {
  const { format, status = 'all', tag } = values;
  return withCluster(context, values, async (cluster) => {
    const views = (await cluster.list())
      .filter(({ tags }) => tag === undefined || tags.includes(tag))
      .filter((view) => status === 'all' || (view.status === 'running') === (status === 'running'));
    for (const { name, isNewer } of await cluster.unreadable()) {
      warn(
        context,
        isNewer
          ? newerRecord(`'${name}'`).message
          : `the record of '${name}' cannot be read: it was set aside`,
      );
    }
    return writeList(context, format, {
      names: views.map(({ name }) => name),
      json: () => views.map(clusterJson),
      head: ['NAME', 'STATUS', 'HOST', 'ITERATION', 'STARTED', 'BRANCH', 'TAG'],
      rows: () =>
        views.map((view) => [
          view.name,
          view.status === 'running' ? 'running' : stateWord(view.why.state),
          view.host ?? '-',
          `${view.iteration}/${view.maxIterations}`,
          ago(systemClock.now() - view.startedAt),
          view.branch,
          view.tags.join(',') || '-',
        ]),
    });
  });
}

type Entry = { readonly worker: Worker; readonly running: boolean; readonly loop: LoopRecord | null };

/** `running`, or the question that pauses it; of a loop that does not run, how it ended or what it waits for. */
function statusText({ worker, running, loop }: Entry): string {
  if (running) return String(worker.metadata.needs_you ?? 'running');
  return loop === null || loop.status === 'running' ? 'stopped' : stateWord(loop.why.state);
}

/** The fields of a local worker, and where the loop is. */
function clusterJson(view: ClusterView) {
  return {
    name: view.name,
    status: view.status,
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

function workerJson({ worker, running, loop }: Entry) {
  return {
    ...worker,
    status: running ? 'running' : 'stopped',
    ...(worker.metadata.ralph === true ? { end: loop?.end ?? null } : {}),
  };
}

function row(entry: Entry): string[] {
  const { worker } = entry;
  const { tmux, pid, tags, started } = worker;
  const now = systemClock.now();
  const place = tmux === null ? (pid ?? '-') : `${tmux.session}:${tmux.window}`;
  return [
    worker.name,
    statusText(entry),
    String(place),
    ago(now - (readStamp(started) ?? now)),
    worktreeOf(worker)?.path ?? '-',
    tags.join(',') || '-',
  ];
}
