import { plural } from '../../core/text.ts';
import type { TopRow, TopView } from '../../fleet/top.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Style } from './style.ts';
import { cutTo, fitTo, widthOf } from './width.ts';

export type TopState = {
  /** Name of the worker that the keys act on; null before there is one. */
  readonly selected: string | null;
  readonly message: string;
};

export type TopSize = { readonly columns: number; readonly rows: number };

const keys = '↑↓ select  a attach  l logs  p pause  r resume  k kill  q quit';

/** Returns the whole screen: as many lines as there are rows, none longer than the columns. */
export function layoutTop(
  view: TopView,
  { selected, message }: TopState,
  { columns, rows }: TopSize,
  style: Style,
): string[] {
  const room = Math.max(1, rows - 6);
  const at = Math.max(
    0,
    view.rows.findIndex(({ name }) => name === selected),
  );
  const first = Math.max(0, Math.min(at - room + 1, view.rows.length - room));
  const widths = columnsFor(view.rows, columns);
  const table = view.rows.slice(first, first + room).map((row, index) => {
    const isSelected = first + index === at;
    const text = rowText(row, widths, isSelected ? '▶' : ' ');
    return isSelected ? style.bold(text) : paint(row, text, style);
  });
  const worker = view.rows[at];
  const hint = worker?.next ? clean(`${worker.name}: ${worker.why}; ${worker.next}`) : '';
  const lines = [
    style.bold(headline(view)),
    '',
    style.dim(rowText(head, widths, ' ')),
    ...(table.length === 0 ? [style.dim('  no workers yet: swarm spawn --help')] : table),
  ];
  const body = [...lines, ...Array<string>(Math.max(0, rows - 3 - lines.length)).fill('')];
  return [...body.slice(0, rows - 3), style.dim(hint), message, style.dim(keys)]
    .slice(-rows)
    .map((line) => cutTo(line, columns));
}

/** Returns the table as plain text, for a pipe. */
export function textTop(view: TopView): string {
  const widths = columnsFor(view.rows, Number.POSITIVE_INFINITY);
  const lines = [
    headline(view),
    rowText(head, widths, ''),
    ...view.rows.map((row) => rowText(row, widths, '')),
  ];
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function headline({ rows, running, maxParallel, accountsAtLimit, undriven }: TopView): string {
  const waiting = rows.filter((row) => row.needsYou).length;
  const parts = [
    plural(rows.length, 'worker'),
    waiting === 0 ? '' : `${waiting} ${waiting === 1 ? 'waits' : 'wait'} for you`,
    `${running}${maxParallel === null ? '' : ` of ${maxParallel}`} running`,
    accountsAtLimit.length === 0 ? '' : `at their limit: ${accountsAtLimit.join(', ')}`,
    undriven ? 'no supervisor: swarm doctor --fix' : '',
  ];
  return clean(`swarm  ${parts.filter(Boolean).join(' · ')}`);
}

type Cells = Pick<TopRow, 'name' | 'why' | 'iteration' | 'since'> & { readonly failures: number | string };
type Widths = { readonly name: number; readonly why: number; readonly iteration: number };

const head: Cells = { name: 'NAME', why: 'WHY', iteration: 'ITERATION', since: 'FOR', failures: 'FAILED' };
const fixed = { since: 5, failures: 6, gaps: 10 };

function columnsFor(rows: readonly TopRow[], columns: number): Widths {
  const widest = (pick: (row: Cells) => string) =>
    Math.max(...[head, ...rows].map((row) => widthOf(clean(pick(row)))));
  const iteration = widest((row) => row.iteration);
  const name = Math.min(
    widest((row) => row.name),
    Math.max(8, Math.floor(columns / 3)),
  );
  const space = columns - name - iteration - fixed.since - fixed.failures - fixed.gaps;
  return {
    name,
    iteration,
    why: Math.min(
      widest((row) => row.why),
      Math.max(8, space),
    ),
  };
}

function rowText({ name, why, iteration, since, failures }: Cells, widths: Widths, mark: string): string {
  const cells = [
    fitTo(clean(name), widths.name),
    fitTo(clean(why), widths.why),
    fitTo(iteration, widths.iteration),
    fitTo(since, fixed.since),
    String(failures === 0 ? '' : failures),
  ];
  return `${mark === '' ? '' : `${mark} `}${cells.join('  ')}`;
}

/** Cleans text of an agent or a file, which must not drive the terminal. */
function clean(text: string): string {
  return cleanTerminal(text).replace(/\s+/g, ' ');
}

function paint({ state, needsYou }: TopRow, text: string, style: Style): string {
  if (needsYou) return style.yellow(text);
  if (state === 'failed' || state === 'window-lost') return style.red(text);
  if (state === 'done' || state === 'stopped' || state === 'paused') return style.dim(text);
  return text;
}
