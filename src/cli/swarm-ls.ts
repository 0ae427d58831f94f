import { runningNow } from '../fleet/live.ts';
import { ago, readStamp } from '../store/fleet-time.ts';
import { type Worker, worktreeOf } from '../store/fleet-workers.ts';
import { systemClock } from '../system/clock.ts';
import type { Context, Input } from './spec.ts';
import { allWorkers } from './swarm-context.ts';
import { wantsEngine } from './swarm-engine.ts';
import type { lsOptions } from './swarm-options.ts';
import { tableText } from './swarm-table.ts';

export async function main(context: Context, input: Input<typeof lsOptions>): Promise<number> {
  if (wantsEngine(context, input.values))
    return (await import('./swarm-cluster-views.ts')).ls(context, input);
  const { values } = input;
  const { format = 'table', status = 'all', tag } = values;
  const tagged = (await allWorkers(context)).filter(({ tags }) => tag === undefined || tags.includes(tag));
  const running = await runningNow(context.env, tagged);
  const lives = tagged
    .map((worker, index) => ({ worker, running: running[index] === true }))
    .filter((live) => status === 'all' || live.running === (status === 'running'));
  if (format === 'json') {
    const workers = lives.map((live) => ({ ...live.worker, status: statusText(live.running) }));
    context.stdout.write(`${JSON.stringify(workers, null, 2)}\n`);
  } else if (format === 'names') {
    context.stdout.write(lives.map(({ worker }) => `${worker.name}\n`).join(''));
  } else {
    context.stdout.write(
      tableText(['NAME', 'STATUS', 'PID/WINDOW', 'STARTED', 'WORKTREE', 'TAG'], lives.map(row)),
    );
  }
  return 0;
}

export function statusText(running: boolean): 'running' | 'stopped' {
  return running ? 'running' : 'stopped';
}

export function uptime(started: string): string {
  return ago(systemClock.now() - (readStamp(started) ?? systemClock.now()));
}

function row({ worker, running }: { worker: Worker; running: boolean }): string[] {
  const { tmux, pid, tags } = worker;
  const place = tmux === null ? (pid ?? '-') : `${tmux.session}:${tmux.window}`;
  return [
    worker.name,
    statusText(running),
    String(place),
    uptime(worker.started),
    worktreeOf(worker)?.path ?? '-',
    tags.join(',') || '-',
  ];
}
