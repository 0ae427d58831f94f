import type { RunRecord } from '../../journal/run-record.ts';
import type { Style } from './style.ts';

/** Returns every claim with its evidence, one line per check. */
export function verdictTable(verdicts: RunRecord['verdicts'], style: Style): string {
  if (verdicts.length === 0) return 'No claim was made.\n';
  const rows = verdicts.flatMap((verdict) =>
    verdict.evidence.map((item, index) => ({
      iteration: index === 0 ? String(verdict.iteration) : '',
      verdict: index === 0 ? (verdict.accepted ? 'accepted' : 'rejected') : '',
      check: item.check,
      ok: item.ok,
      detail: firstLine(item.detail),
    })),
  );
  const width = Math.max(5, ...rows.map((row) => Math.min(row.check.length, 40)));
  const head = `${'Iteration'.padEnd(9)}  ${'Verdict'.padEnd(8)}  ${'Check'.padEnd(width)}  Evidence`;
  const lines = rows.map((row) => {
    const verdict = row.verdict.padEnd(8);
    const painted = row.verdict === 'accepted' ? style.green(verdict) : style.red(verdict);
    const mark = row.ok ? style.green(style.symbol('pass')) : style.red(style.symbol('fail'));
    return `${row.iteration.padEnd(9)}  ${painted}  ${shorten(row.check, 40).padEnd(width)}  ${mark} ${row.detail}`;
  });
  return `${[style.bold(head), ...lines].join('\n')}\n`;
}

function firstLine(text: string): string {
  return shorten(text.split('\n')[0] ?? '', 100);
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
