import { outcomeWithCause } from '../../core/limit-words.ts';
import { plural, shorten } from '../../core/text.ts';
import { listLocated, type SessionRun } from '../../drive/session/session-runs.ts';
import type { RunRecord } from '../../journal/run-record.ts';
import { skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { formatCost, formatTime } from '../../show/terminal/units.ts';
import { writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { isDriven, nowText, recordOfLocated } from './located-run.ts';
import type { jsonOptions } from './options.ts';

export function main(context: Context, { values }: Input<typeof jsonOptions>): number {
  const { cwd, env, stdout } = context;
  const records = listLocated(env, cwd).map((located): Row => {
    const record = { ...recordOfLocated(context, located), running: isDriven(cwd, located) };
    const { session } = located;
    return session === null ? record : { ...record, status: session.status, ...silenceOf(session) };
  });
  if (values.json) return writeJson(context, records);
  if (records.length === 0) stdout.write('No run yet. Start one: ralph run -p "your task"\n');
  for (const record of records) stdout.write(`${row(record)}\n`);
  return 0;
}

/** Days without an event after which the session of a loop is likely to be gone. */
const silentDays = 3;

function silenceOf({ status, updatedAt }: SessionRun): { readonly silentDays?: number } {
  const days = Math.floor((systemClock.now() - updatedAt) / 86_400_000);
  return status !== 'ended' && days >= silentDays ? { silentDays: days } : {};
}

type Row = RunRecord & { readonly running: boolean; readonly status?: string; readonly silentDays?: number };

const stateWords: Record<RunRecord['state'], string> = {
  going: 'running',
  waiting: 'waiting',
  yielded: 'waiting',
  ended: 'ended',
  abandoned: 'killed',
};

function row(record: Row): string {
  const { run, outcome, iterations, agent, usage, startedAt, status } = record;
  const end = outcome === null ? null : outcomeWithCause(outcome, record.becauseCode);
  const state = end ?? status ?? stateWords[record.state];
  const cost = usage.costUsd === undefined ? '' : formatCost(usage.costUsd);
  return [
    run.padEnd(24),
    (startedAt === null ? '' : formatTime(startedAt)).padEnd(20),
    state.padEnd(22),
    plural(iterations, 'iteration').padEnd(14),
    agent ?? '',
    cost,
    shorten(cleanTerminal(record.task), 60),
    record.doing === null ? '' : `now: ${shorten(nowText(record), 80)}`,
    record.silentDays === undefined ? '' : `no sign for ${record.silentDays} days; ralph stop ${run} ends it`,
    skippedText(record) ?? '',
  ]
    .join('  ')
    .trimEnd();
}
