import { formatDuration } from '../../core/duration.ts';
import { outcomeWithCause } from '../../core/limit-words.ts';
import { plural } from '../../core/text.ts';
import { locateRun } from '../../drive/session/session-runs.ts';
import type { RunRecord } from '../../journal/run-record.ts';
import { skippedText } from '../../journal/run-view.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { type Result, resultOf } from '../../show/result.ts';
import { factLines } from '../../show/terminal/facts.ts';
import type { Style } from '../../show/terminal/style.ts';
import { costText, formatTime, usageText } from '../../show/terminal/units.ts';
import { verdictTable } from '../../show/terminal/verdict-table.ts';
import { styleOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { nowText, readLocated, recordOfLocated } from './located-run.ts';
import type { showOptions } from './options.ts';
import { showDiff } from './show-diff.ts';

export async function main(context: Context, { values, args }: Input<typeof showOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const located = locateRun(env, cwd, args[0]);
  if (values.diff !== undefined) return showDiff(context, located, values.diff);
  const record = recordOfLocated(context, located);
  if (values.json) return writeJson(context, record);
  const style = styleOf(context);
  const result = await resultOf(cwd, readLocated(cwd, located).view);
  const verdicts = verdictTable(record.verdicts, style);
  stdout.write(`${summary(record, result, style)}\n${verdicts}${denialList(record)}`);
  return 0;
}

/** Says why a run has no outcome. */
const withoutOutcome: Record<RunRecord['state'], string> = {
  going: 'none yet: it is running',
  waiting: 'none yet: it is waiting',
  yielded: 'none yet: it waits for its supervisor to start the next iteration',
  ended: 'none',
  abandoned: 'none: it was killed, or could not write its end',
};

function summary(record: RunRecord, result: Result, style: Style): string {
  const { usage, outcome, exitCode, iterations } = record;
  return factLines(
    [
      ['Run', record.run],
      ['Task', style.bold(cleanTerminal(record.task))],
      [
        'Outcome',
        outcome === null
          ? withoutOutcome[record.state]
          : `${outcomeWithCause(outcome, record.becauseCode)} (exit code ${exitCode})`,
      ],
      ['Because', outcome === null ? '' : cleanTerminal(record.because?.split('\n')[0] ?? '')],
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

/** Lists the tool calls that the guard refused. */
function denialList({ denials }: RunRecord): string {
  if (denials.length === 0) return '';
  const lines = denials.map(({ iteration, tool, what, category, reason }) => {
    const call = what === '' ? tool : `${tool}(${what.replace(/\s+/g, ' ')})`;
    return `  Iteration ${iteration}: ${call}\n    ${category}: ${reason}`;
  });
  return `\nRefused by the guard:\n${cleanTerminal(lines.join('\n'))}\n`;
}
