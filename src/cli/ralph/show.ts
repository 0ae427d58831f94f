import { basename } from 'node:path';
import { formatDuration } from '../../core/duration.ts';
import { RalphError } from '../../core/error.ts';
import { outcomeWithCause } from '../../core/limit-words.ts';
import { plural, shorten } from '../../core/text.ts';
import {
  type LocatedRun,
  listLocated,
  locateRun,
  type SessionRun,
} from '../../drive/session/session-runs.ts';
import type { RunRecord } from '../../journal/run-record.ts';
import { type IterationView, type RunView, rangeOf, skippedText } from '../../journal/run-view.ts';
import { systemClock } from '../../os/clock.ts';
import { diffBetween } from '../../os/git/git-diff.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { type Result, resultOf } from '../../show/result.ts';
import { factLines } from '../../show/terminal/facts.ts';
import type { Style } from '../../show/terminal/style.ts';
import { costText, formatCost, formatTime, usageText } from '../../show/terminal/units.ts';
import { verdictTable } from '../../show/terminal/verdict-table.ts';
import { styleOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { isDriven, nowText, readLocated, recordOfLocated } from './located-run.ts';
import type { jsonOptions, showOptions } from './options.ts';

const maxDiffChars = 64 * 1024 * 1024;

export async function main(context: Context, { values, args }: Input<typeof showOptions>): Promise<void> {
  const { cwd, env, stdout } = context;
  const located = locateRun(env, cwd, args[0]);
  if (values.diff !== undefined) return showDiff(context, located, values.diff);
  const record = recordOfLocated(context, located);
  if (values.json) return writeJson(context, record);
  const style = styleOf(context);
  const { view } = readLocated(cwd, located);
  const result = await resultOf(cwd, view);
  const verdicts = verdictTable(record.verdicts, style);
  stdout.write(`${summary(record, view, result, style)}\n${verdicts}${denialList(record)}`);
}

async function showDiff({ cwd, stdout }: Context, located: LocatedRun, number: string): Promise<void> {
  const { view } = readLocated(cwd, located);
  const { from, to } = rangeOf(view, iterationOf(view, number));
  const diff = from === null ? null : await diffBetween(cwd, from, to, maxDiffChars);
  if (diff === null) {
    const message = `the changes of run ${view.run} are not kept: there is no git here, or its snapshots are gone`;
    throw new RalphError('no-diff', message, { remedy: `ralph show ${view.run}` });
  }
  stdout.write(cleanTerminal(diff.text));
}

/** Returns the iteration of a number; undefined without one, for the whole run. */
export function iterationOf({ run, iterations }: RunView, number: string): IterationView | undefined {
  if (number === '') return undefined;
  const one = iterations.findLast(({ iteration }) => String(iteration) === number);
  if (one !== undefined) return one;
  const count = new Set(iterations.map(({ iteration }) => iteration)).size;
  throw new RalphError('usage', `run ${run} has no iteration ${number}: it has ${count}`, {
    remedy: `ralph show ${run} --diff`,
  });
}

const withoutOutcome: Record<RunRecord['state'], string> = {
  going: 'none yet: it is running',
  waiting: 'none yet: it is waiting',
  yielded: 'none yet: it waits for its supervisor to start the next iteration',
  ended: 'none',
  abandoned: 'none: it was killed, or could not write its end',
};

function summary(record: RunRecord, { cwd, branch }: RunView, result: Result, style: Style): string {
  const { usage, outcome, exitCode, iterations, because } = record;
  // The table below says it.
  const isEvidence = because === record.verdicts.at(-1)?.because;
  return factLines(
    [
      ['Task', style.bold(cleanTerminal(record.task))],
      ['Project', cleanTerminal([basename(cwd ?? ''), branch].filter(Boolean).join(' · '))],
      ['Run', record.run],
      [
        'Outcome',
        outcome === null
          ? withoutOutcome[record.state]
          : `${outcomeWithCause(outcome, record.becauseCode)} (exit code ${exitCode})`,
      ],
      ['Because', outcome === null || isEvidence ? '' : cleanTerminal(because?.split('\n')[0] ?? '')],
      ['Now', nowText(record)],
      ['Changes', result.changes],
      ['Diff', result.diff, true],
      ['Cost', costText(usage)],
      ['Time', `${formatDuration(record.elapsedMs)}, ${plural(iterations, 'iteration')}`],
      ['Tokens', usageText(usage)],
      ['Agent', record.agent ?? 'unknown'],
      ['Started', record.startedAt === null ? 'unknown' : formatTime(record.startedAt)],
      ['Ended', record.endedAt === null ? '-' : formatTime(record.endedAt)],
      ['Skipped', skippedText(record) ?? ''],
      // The next command after success is this one.
      ['Next', record.next === `ralph show ${record.run}` ? '' : (record.next ?? ''), true],
    ],
    style,
  );
}

function denialList({ denials }: RunRecord): string {
  if (denials.length === 0) return '';
  const lines = denials.map(({ iteration, tool, what, category, reason }) => {
    const call = what === '' ? tool : `${tool}(${what.replace(/\s+/g, ' ')})`;
    return `  Iteration ${iteration}: ${call}\n    ${category}: ${reason}`;
  });
  return `\nRefused by the guard:\n${cleanTerminal(lines.join('\n'))}\n`;
}

/** `ralph runs` */
export function list(context: Context, { values }: Input<typeof jsonOptions>): void {
  const { cwd, env, stdout } = context;
  const records = listLocated(env, cwd).map((located): Row => {
    const record = { ...recordOfLocated(context, located), running: isDriven(cwd, located) };
    const { session } = located;
    return session === null ? record : { ...record, status: session.status, ...silenceOf(session) };
  });
  if (values.json) writeJson(context, records);
  else if (records.length === 0) stdout.write('No run yet. Start one: ralph run -p "your task"\n');
  else for (const record of records) stdout.write(`${row(record)}\n`);
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
