import { type LoopRecord, readLoopRecord } from '../../fleet/files/loops.ts';
import { ago, readStamp } from '../../fleet/files/time.ts';
import { type Worker, worktreeOf } from '../../fleet/files/workers.ts';
import { runningNow } from '../../fleet/live.ts';
import { stateWord } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import type { Environment } from '../../os/process/program.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { allWorkers } from './context.ts';
import { wantsCluster } from './open-cluster.ts';
import type { lsOptions } from './options.ts';
import { tableText } from './table.ts';

export async function main(context: Context, input: Input<typeof lsOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster-views.ts')).ls(context, input);
  const { values } = input;
  const { format = 'table', status = 'all', tag } = values;
  const tagged = (await allWorkers(context)).filter(({ tags }) => tag === undefined || tags.includes(tag));
  const running = await runningNow(context.env, tagged);
  const lives = tagged
    .map((worker, index) => ({ worker, running: running[index] === true }))
    .filter((live) => status === 'all' || live.running === (status === 'running'));
  if (format === 'names') {
    context.stdout.write(lives.map(({ worker }) => `${worker.name}\n`).join(''));
    return 0;
  }
  const shown = lives.map((live) => ({
    ...live,
    loop: live.running ? null : loopOf(context.env, live.worker),
  }));
  if (format === 'json') context.stdout.write(`${JSON.stringify(shown.map(workerJson), null, 2)}\n`);
  else
    context.stdout.write(
      tableText(['NAME', 'STATUS', 'PID/WINDOW', 'STARTED', 'WORKTREE', 'TAG'], shown.map(row)),
    );
  return 0;
}

/** `running` or `stopped`; of a loop that does not run, how it ended or what it waits for. */
function statusText(running: boolean, loop: LoopRecord | null): string {
  if (running) return 'running';
  return loop === null || loop.status === 'running' ? 'stopped' : stateWord(loop.why.state);
}

/** Null for a worker without a loop. */
function loopOf(env: Environment, { name, metadata }: Worker): LoopRecord | null {
  return metadata.ralph === true ? readLoopRecord(env, name) : null;
}

export function uptime(started: string): string {
  return ago(systemClock.now() - (readStamp(started) ?? systemClock.now()));
}

/** A worker and whether it runs; of a loop that does not, how it ended. */
type Shown = { readonly worker: Worker; readonly running: boolean; readonly loop: LoopRecord | null };

function workerJson({ worker, running, loop }: Shown) {
  return {
    ...worker,
    status: running ? 'running' : 'stopped',
    ...(worker.metadata.ralph === true ? { end: loop?.end ?? null } : {}),
  };
}

function row({ worker, running, loop }: Shown): string[] {
  const { tmux, pid, tags } = worker;
  const place = tmux === null ? (pid ?? '-') : `${tmux.session}:${tmux.window}`;
  return [
    worker.name,
    statusText(running, loop),
    String(place),
    uptime(worker.started),
    worktreeOf(worker)?.path ?? '-',
    tags.join(',') || '-',
  ];
}
