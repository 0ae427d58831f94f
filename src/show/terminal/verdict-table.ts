import type { RunRecord } from '../../journal/run-record.ts';
import { firstLine } from './narrate.ts';
import type { Style } from './style.ts';
import { cutTo, fitTo, widthOf } from './width.ts';

/** Returns every claim with its evidence, one line per check. */
export function verdictTable(verdicts: RunRecord['verdicts'], style: Style): string {
  if (verdicts.length === 0) return 'No claim was made.\n';
  const rows = verdicts.flatMap((verdict) =>
    verdict.evidence.map((item, index) => ({
      iteration: index === 0 ? String(verdict.iteration) : '',
      verdict: index === 0 ? (verdict.accepted ? 'accepted' : 'rejected') : '',
      check: firstLine(item.check),
      ok: item.ok,
      warning: item.warning === true,
      detail: cutTo(firstLine(item.detail), 100),
    })),
  );
  const width = Math.max(5, ...rows.map((row) => Math.min(widthOf(row.check), 40)));
  const head = `${'Iteration'.padEnd(9)}  ${'Verdict'.padEnd(8)}  ${'Check'.padEnd(width)}  Evidence`;
  const lines = rows.map((row) => {
    const verdict = row.verdict.padEnd(8);
    const painted = row.verdict === 'accepted' ? style.green(verdict) : style.red(verdict);
    const passed = row.warning ? style.yellow(style.symbol('warn')) : style.green(style.symbol('pass'));
    const mark = row.ok ? passed : style.red(style.symbol('fail'));
    return `${row.iteration.padEnd(9)}  ${painted}  ${fitTo(row.check, width)}  ${mark} ${row.detail}`;
  });
  return `${[style.bold(head), ...lines].join('\n')}\n`;
}
