import { cleanTerminal } from '../safety/terminal.ts';
import { type RunRecord, readRun } from '../store/runs.ts';
import { locateRun, readSessionRun } from '../store/session-runs.ts';
import { createStyle, type Style } from '../view/style.ts';
import { formatCost, formatTokens } from '../view/units.ts';
import { verdictTable } from '../view/verdict-table.ts';
import type { showOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, { values, args }: Input<typeof showOptions>): number {
  const record = find(context, args[0]);
  if (values.json) {
    context.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
    return 0;
  }
  const style = createStyle({ env: context.env, isTTY: context.stdout.isTTY });
  context.stdout.write(
    `${summary(record, style)}\n${verdictTable(record.verdicts, style)}${denialList(record)}`,
  );
  return 0;
}

function find({ cwd, env }: Context, wanted: string | undefined): RunRecord {
  const { run, session } = locateRun(env, cwd, wanted);
  return session ? readSessionRun(session) : readRun(cwd, run);
}

function summary(record: RunRecord, style: Style): string {
  const { usage } = record;
  const tokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const rows: [string, string][] = [
    ['Run', style.bold(record.run)],
    [
      'Outcome',
      record.outcome === null
        ? `none: it ${record.yielded ? 'waits for its supervisor to start the next iteration' : 'is still running, or was killed'}`
        : `${record.outcome} (exit code ${record.exitCode})`,
    ],
    ...(record.because
      ? ([['Because', record.because.split('\n')[0] ?? '']] satisfies [string, string][])
      : []),
    ['Iterations', String(record.iterations)],
    ['Agent', record.agent ?? 'unknown'],
    [
      'Tokens',
      `${formatTokens(tokens)} in (${formatTokens(usage.cacheReadTokens)} cached) / ${formatTokens(usage.outputTokens)} out`,
    ],
    ...(usage.costUsd === undefined
      ? []
      : ([['Cost', formatCost(usage.costUsd)]] satisfies [string, string][])),
    ['Started', record.startedAt ?? 'unknown'],
    ['Ended', record.endedAt ?? '-'],
  ];
  return `${rows.map(([name, value]) => `${name.padEnd(10)}  ${value}`).join('\n')}\n`;
}

/** What the guard refused, a line each. */
function denialList({ denials }: RunRecord): string {
  if (denials.length === 0) return '';
  const lines = denials.map(({ iteration, tool, what, category, reason }) => {
    const call = what === '' ? tool : `${tool}(${what.replace(/\s+/g, ' ')})`;
    return `  Iteration ${iteration}: ${call}\n    ${category}: ${reason}`;
  });
  return `\nRefused by the guard:\n${cleanTerminal(lines.join('\n'))}\n`;
}
