import { formatDuration } from '../../core/duration.ts';
import { locateRun } from '../../drive/session/session-runs.ts';
import type { RunRecord } from '../../journal/run-record.ts';
import { skippedText } from '../../journal/run-view.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Style } from '../../show/terminal/style.ts';
import { formatCost, formatTime, formatTokens } from '../../show/terminal/units.ts';
import { verdictTable } from '../../show/terminal/verdict-table.ts';
import { styleOf, writeJson } from '../kernel/output.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { recordOfLocated } from './located-run.ts';
import type { showOptions } from './options.ts';
import { showDiff } from './show-diff.ts';

export async function main(context: Context, { values, args }: Input<typeof showOptions>): Promise<number> {
  const { cwd, env, stdout } = context;
  const located = locateRun(env, cwd, args[0]);
  if (values.diff !== undefined) return showDiff(context, located, values.diff);
  const record = recordOfLocated(cwd, located);
  if (values.json) return writeJson(context, record);
  const style = styleOf(context);
  stdout.write(`${summary(record, style)}\n${verdictTable(record.verdicts, style)}${denialList(record)}`);
  return 0;
}

/** Says why a run has no outcome. */
const withoutOutcome: Record<RunRecord['state'], string> = {
  going: 'none yet: it is running',
  waiting: 'none yet: it is waiting',
  yielded: 'none yet: it waits for its supervisor to start the next iteration',
  ended: 'none',
  abandoned: 'none: it was killed',
};

function summary(record: RunRecord, style: Style): string {
  const { usage, outcome } = record;
  const tokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const rows: [string, string][] = [
    ['Run', style.bold(record.run)],
    ['Task', cleanTerminal(record.task)],
    [
      'Outcome',
      outcome === null ? withoutOutcome[record.state] : `${outcome} (exit code ${record.exitCode})`,
    ],
    ['Because', record.because?.split('\n')[0] ?? ''],
    ['Now', cleanTerminal(record.doing ?? '')],
    ['Iterations', String(record.iterations)],
    ['Agent', record.agent ?? 'unknown'],
    [
      'Tokens',
      `${formatTokens(tokens)} in (${formatTokens(usage.cacheReadTokens)} cached) / ${formatTokens(usage.outputTokens)} out`,
    ],
    ['Cost', usage.costUsd === undefined ? '' : formatCost(usage.costUsd)],
    ['Time', formatDuration(record.elapsedMs)],
    ['Started', record.startedAt === null ? 'unknown' : formatTime(record.startedAt)],
    ['Ended', record.endedAt === null ? '-' : formatTime(record.endedAt)],
    ['Skipped', skippedText(record) ?? ''],
    ['Next', record.next ?? ''],
  ];
  const lines = rows.flatMap(([name, value]) => (value === '' ? [] : [`${name.padEnd(10)}  ${value}\n`]));
  return lines.join('');
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
