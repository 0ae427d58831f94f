import { runningLoop } from '../loop/ownership.ts';
import { listRuns, type RunRecord, readRun } from '../store/runs.ts';
import { listSessionRuns, readSessionRun } from '../store/session-runs.ts';
import { systemClock } from '../system/clock.ts';
import { formatCost } from '../view/units.ts';
import type { runsOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main({ cwd, env, stdout }: Context, { values }: Input<typeof runsOptions>): number {
  const running = runningLoop(cwd)?.run ?? null;
  const own = listRuns(cwd).map((run) => ({ ...readRun(cwd, run), running: run === running }));
  const inSessions = listSessionRuns(env, cwd).map((run) => ({
    ...readSessionRun(run),
    running: run.status !== 'ended',
    status: run.status,
    ...(run.status !== 'ended' && days(run.updatedAt) >= silentDays
      ? { silentDays: days(run.updatedAt) }
      : {}),
  }));
  const records = [...own, ...inSessions].sort((a, b) => (a.run < b.run ? -1 : 1));
  if (values.json) {
    stdout.write(`${JSON.stringify(records, null, 2)}\n`);
    return 0;
  }
  if (records.length === 0) stdout.write('No run yet. Start one: ralph run -p "your task"\n');
  for (const record of records) stdout.write(`${row(record)}\n`);
  return 0;
}

/** From then on, the session of a loop is likely to be gone. */
const silentDays = 3;

function days(since: number): number {
  return Math.floor((systemClock.now() - since) / 86_400_000);
}

type Row = RunRecord & { readonly running: boolean; readonly status?: string; readonly silentDays?: number };

function row(record: Row): string {
  const { run, outcome, because, yielded, iterations, agent, usage, startedAt, running, status } = record;
  const resting = yielded ? 'waiting' : because === null ? 'killed' : 'failed';
  const state = outcome ?? status ?? (running ? 'running' : resting);
  const started = startedAt?.slice(0, 16).replace('T', ' ') ?? '';
  const cost = usage.costUsd === undefined ? '' : formatCost(usage.costUsd);
  return [
    run.padEnd(24),
    started.padEnd(16),
    state.padEnd(22),
    `${iterations} iteration${iterations === 1 ? '' : 's'}`.padEnd(14),
    agent ?? '',
    cost,
    record.silentDays === undefined ? '' : `no sign for ${record.silentDays} days; ralph stop ${run} ends it`,
  ]
    .join('  ')
    .trimEnd();
}
