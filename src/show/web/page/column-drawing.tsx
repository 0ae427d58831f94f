import { useMemo } from 'preact/hooks';
import type { IterationView } from '../../../journal/run-view.ts';
import type { Row } from './column-rows.tsx';
import { ticksTo } from './ticks.ts';

type PlacedRow = Row & { readonly top: number };
type RowsProps = { readonly rows: readonly PlacedRow[]; readonly width: number };

export const headHeight = 22;
export const gap = 18;
const axisWidth = 52;

/** Draws the rows below the numbers of the iterations. */
export function placeRows(rows: readonly Row[]): PlacedRow[] {
  let next = headHeight;
  return rows.map((row) => {
    const top = next;
    next += row.height + gap;
    return { ...row, top };
  });
}

function yOf({ top, height, max }: PlacedRow, amount: number): number {
  return top + height - (amount / max) * height;
}

/** Amounts that the axis of a row names: round ones, or two of a low row. */
function ticksOf(row: PlacedRow): { amount: number; y: number }[] {
  const { top, max, barMax = max, height, headroom = 0, format, ticks = ticksTo } = row;
  if (format === undefined) return [];
  const amounts = height < 50 ? [0, barMax] : ticks(barMax, 3).filter((amount) => amount <= barMax);
  return amounts.map((amount) => ({ amount, y: top + height - (amount / barMax) * (height - headroom) }));
}

export function Axis({ rows, height }: { readonly rows: readonly PlacedRow[]; readonly height: number }) {
  return (
    <svg class="axis" width={axisWidth} height={height} aria-hidden="true">
      {rows.flatMap((row) =>
        ticksOf(row).map(({ amount, y }) => (
          <text x={axisWidth - 6} y={y + 4} class="tick last">
            {amount === 0 ? 0 : row.format?.(amount)}
          </text>
        )),
      )}
    </svg>
  );
}

export function Background({ rows, width }: RowsProps) {
  return (
    <g>
      {rows.map((row) => (
        <>
          <Across y={row.top + row.height + 0.5} looks="base" />
          {row.lines?.map(({ amount, looks }) => (
            <Across y={yOf(row, amount)} looks={looks} />
          ))}
          {ticksOf(row).map(({ amount, y }) => amount > 0 && <Across y={y} looks="grid-line" />)}
          {row.curve && <path d={curvePath(row, row.curve, width)} class="sum-line" />}
        </>
      ))}
    </g>
  );
}

function Across({ y, looks }: { readonly y: number; readonly looks: string }) {
  return <line x1={0} x2="100%" y1={y} y2={y} class={looks} />;
}

function curvePath(row: PlacedRow, curve: readonly number[], width: number): string {
  const points = curve.map((amount, index) => `${(index + 0.5) * width} ${yOf(row, amount).toFixed(1)}`);
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

type ColumnProps = RowsProps & { readonly one: IterationView; readonly scale: string; readonly at: number };

/** Drawn only when something in it has changed: most of a long run stays as it is. */
export function Column({ one, rows, width, scale, at }: ColumnProps) {
  const { index, iteration, endedAt, wait } = one;
  const stillGrows = endedAt === null || wait?.ms === null;
  const numberStep = [1, 2, 5, 10, 20, 50].find((step) => step * width >= 26) ?? 100;
  const hasNumber = index === 0 || iteration % numberStep === 0;
  return useMemo(
    () => (
      <g transform={`translate(${index * width} 0)`} data-index={index}>
        {hasNumber && (
          <text x={width / 2} y={14} class="number">
            {iteration}
          </text>
        )}
        {rows.map((row) => drawCell(row, one, width))}
      </g>
    ),
    [one, scale, stillGrows && at],
  );
}

function drawCell(row: PlacedRow, one: IterationView, width: number) {
  const { top, height, max, barMax = max, headroom = 0, bars, curve, sign } = row;
  const size = Math.max(4, Math.min(34, width - Math.max(3, width * 0.3)));
  const total = curve?.[one.index];
  let y = top + height;
  const shapes = bars?.(one).map(([looks, amount]) => {
    if (amount <= 0) return null;
    const high = Math.max(1, (amount / barMax) * (height - headroom));
    y -= high;
    const box = { x: (width - size) / 2, y, width: size, height: high };
    return <rect {...box} class={`bar ${looks}`} data-amount={amount} />;
  });
  return (
    <>
      {shapes}
      {total !== undefined && <circle cx={width / 2} cy={yOf(row, total)} r={2} class="sum" />}
      {sign?.(one, top, width)}
    </>
  );
}
