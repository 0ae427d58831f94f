import type { RunRecord } from '../../journal/run-record.ts';
import { firstLine } from './narrate.ts';
import type { Style } from './style.ts';
import { cutTo, fitTo, widthOf, wrapTo } from './width.ts';

const widestCheck = 40;
const longestDetail = 200;

/** Returns every claim with its evidence, a line per check; long evidence is wrapped at words. */
export function verdictTable(verdicts: RunRecord['verdicts'], style: Style): string {
  if (verdicts.length === 0) return 'No claim was made.\n';
  const names = verdicts.flatMap(({ evidence }) => evidence.map(({ check }) => widthOf(firstLine(check))));
  const width = Math.min(widestCheck, Math.max(5, ...names));
  const left = 9 + 2 + 8 + 2 + width + 2;
  const head = `${'Iteration'.padEnd(9)}  ${'Verdict'.padEnd(8)}  ${'Check'.padEnd(width)}  Evidence`;
  const lines = verdicts.flatMap(({ iteration, accepted, evidence }) =>
    evidence.flatMap(({ check, ok, warning, detail }, index) => {
      const verdict = (index > 0 ? '' : accepted ? 'accepted' : 'rejected').padEnd(8);
      const number = (index > 0 ? '' : String(iteration)).padEnd(9);
      const mark = !ok
        ? style.red(style.symbol('fail'))
        : warning
          ? style.yellow(style.symbol('warn'))
          : style.green(style.symbol('pass'));
      const text = `${mark} ${cutTo(firstLine(detail), longestDetail)}`;
      const [first, ...rest] = wrapTo(text, Math.max(24, style.columns - left));
      const paint = accepted ? style.green : style.red;
      return [
        `${number}  ${paint(verdict)}  ${fitTo(firstLine(check), width)}  ${first}`,
        ...rest.map((line) => ' '.repeat(left) + line),
      ];
    }),
  );
  return `${[style.bold(head), ...lines].join('\n')}\n`;
}
