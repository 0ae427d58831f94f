import { useComputed, useSignal } from '@preact/signals';
import type { RefObject, TargetedMouseEvent } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { IterationView, RunView } from '../../../journal/run-view.ts';
import { type Row, rowsOf } from './column-rows.tsx';
import { Label } from './marks.tsx';
import { pointerX, useWidth } from './parts.tsx';
import { hovered, openLog, select, tab } from './state.ts';
import type { ChartProps } from './timeline.tsx';

type PlacedRow = Row & { readonly top: number };

const headHeight = 22;
const gap = 18;
/** Columns come into the picture and leave it by so many at once, so that not every scroll draws anew. */
const chunk = 30;

/** One view below the other, with a column for each iteration: what belongs together stands above each other. */
export function Columns({ view, selected, at }: ChartProps) {
  const { iterations } = view;
  const [box, measured] = useWidth();
  const room = measured || 800;
  const width = Math.max(11, Math.min(72, Math.floor(room / Math.max(1, iterations.length))));
  const all = Math.max(room, iterations.length * width);
  const rows = placeRows(rowsOf(view, at));
  const height = rows.reduce((sum, row) => sum + row.height + gap, headHeight);
  const scale = JSON.stringify([width, rows.map((row) => [row.name, row.top, row.max])]);
  const { onScroll, scrolled, firstChunk } = useScrolling(box, { room, width, all, selected });
  const atLeftEdge = useComputed(() => `translate(${scrolled.value} 0)`);
  const last = (firstChunk + 2) * chunk + Math.ceil(room / width);
  const shown = iterations.slice(Math.max(0, firstChunk - 1) * chunk, last);
  return (
    <div class="strip">
      <RowLabels rows={rows} />
      <div
        class="scroller"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Iterations: left and right arrow choose one"
        onScroll={onScroll}
        onKeyDown={jump}
      >
        <svg
          class="columns"
          role="img"
          aria-label={describe(view)}
          width={all}
          height={height}
          onMouseMove={(event) => (hovered.value = indexAt(event, view, width))}
          onMouseLeave={() => (hovered.value = null)}
          onClick={(event) => choose(event, indexAt(event, view, width))}
        >
          <Band looks="chosen" index={selected} width={width} height={height} />
          <Cursor width={width} height={height} />
          <Background rows={rows} shown={shown} width={width} />
          <g>
            {shown.map((one) => (
              <Column key={one.index} one={one} rows={rows} width={width} scale={scale} at={at} />
            ))}
          </g>
          <g transform={atLeftEdge}>{rows.map(lineNames)}</g>
        </svg>
      </div>
    </div>
  );
}

type Sizes = Readonly<Record<'room' | 'width' | 'all' | 'selected', number>>;

/** Keeps the chosen column in view, and the end of a run that grows. */
function useScrolling(box: RefObject<HTMLElement>, { room, width, all, selected }: Sizes) {
  const scrolled = useSignal(0);
  const [firstChunk, setFirstChunk] = useState(() => Math.max(0, chunkAt(selected - room / width)));
  const wasAtEnd = scrolled.peek() + room >= (box.current?.scrollWidth ?? 0) - 2;
  function onScroll(): void {
    scrolled.value = box.current?.scrollLeft ?? 0;
    setFirstChunk(chunkAt(scrolled.value / width));
  }
  useLayoutEffect(() => {
    if (wasAtEnd) box.current?.scrollTo(all, 0);
    onScroll();
  }, [all]);
  useLayoutEffect(() => {
    const x = selected * width;
    const isSeen = x >= scrolled.peek() && x + width <= scrolled.peek() + room;
    if (!isSeen) box.current?.scrollTo(x - room / 2, 0);
    onScroll();
  }, [selected, width]);
  return { onScroll, scrolled, firstChunk };
}

function chunkAt(index: number): number {
  return Math.floor(index / chunk);
}

function placeRows(rows: readonly Row[]): PlacedRow[] {
  let next = headHeight;
  return rows.map((row) => {
    const top = next;
    next += row.height + gap;
    return { ...row, top };
  });
}

function describe({ iterations, claims }: RunView): string {
  return `${iterations.length} iterations: time, tokens, cost, context, guardrails and changes of each. ${claims.rejected} claims rejected, ${claims.accepted} accepted.`;
}

function indexAt(event: MouseEvent, { iterations }: RunView, width: number): number | null {
  const index = Math.floor(pointerX(event) / width);
  return index >= 0 && index < iterations.length ? index : null;
}

/** A click on the cell of a check opens its output, too. */
function choose({ target }: TargetedMouseEvent<SVGSVGElement>, index: number | null): void {
  if (index === null) return;
  select(index);
  const command = target instanceof Element ? target.getAttribute('data-check') : null;
  if (command === null) return;
  tab.value = 'summary';
  openLog.value = { index, command };
  document.querySelector('.panel')?.scrollIntoView({ block: 'nearest' });
}

/** The arrows are keys of the whole page. */
function jump(event: KeyboardEvent): void {
  if (event.key !== 'Home' && event.key !== 'End') return;
  event.preventDefault();
  select(event.key === 'Home' ? 0 : Number.POSITIVE_INFINITY);
}

function RowLabels({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <div class="row-labels">
      <div class="row-head">Iteration</div>
      {rows.map(({ name, note, height, legend = [] }) => (
        <div class="row-label" style={{ height: `${height + gap}px` }}>
          <b title={name}>{name}</b>
          <span class="note">{note}</span>
          {legend.map(([className, text]) => (
            <span class="key">
              <i class={className} />
              {text}
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}

type BandProps = {
  readonly looks: string;
  readonly index: number;
  readonly width: number;
  readonly height: number;
};

function Band({ looks, index, width, height }: BandProps) {
  return <rect class={looks} x={index * width} y={0} width={index < 0 ? 0 : width} height={height} />;
}

function Cursor(size: Pick<BandProps, 'width' | 'height'>) {
  return <Band looks="cursor" index={hovered.value ?? -1} {...size} />;
}

type ColumnsProps = { readonly rows: readonly PlacedRow[]; readonly width: number };
type BackgroundProps = ColumnsProps & { readonly shown: readonly IterationView[] };

/** Lines across, and as many numbers of iterations as have room. */
function Background({ rows, shown, width }: BackgroundProps) {
  const every = [1, 2, 5, 10, 20, 50].find((step) => step * width >= 26) ?? 100;
  const numbered = shown.filter(({ iteration, index }) => index === 0 || iteration % every === 0);
  return (
    <g>
      {rows.map((row) => (
        <>
          <Across y={row.top + row.height + 0.5} looks="base" />
          {row.lines?.map(({ amount, looks }) => (
            <Across y={yOf(row, amount)} looks={looks} />
          ))}
          {row.curve && <path d={curvePath(row, row.curve, width)} class="sum-line" />}
        </>
      ))}
      {numbered.map(({ iteration, index }) => (
        <Label key={index} x={index * width + width / 2} y={14} looks="number" text={iteration} />
      ))}
    </g>
  );
}

/** The height at which an amount stands in its row. */
function yOf({ top, height, max }: PlacedRow, amount: number): number {
  return top + height - (amount / max) * height;
}

function Across({ y, looks }: { readonly y: number; readonly looks: string }) {
  return <line x1={0} x2="100%" y1={y} y2={y} class={looks} />;
}

function curvePath(row: PlacedRow, curve: readonly number[], width: number): string {
  const points = curve.map((amount, index) => `${(index + 0.5) * width} ${yOf(row, amount).toFixed(1)}`);
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

function lineNames(row: PlacedRow) {
  return row.lines?.map(
    ({ amount, name }) => name && <Label x={2} y={yOf(row, amount) + 3} looks="threshold-name" text={name} />,
  );
}

type ColumnProps = ColumnsProps & {
  readonly one: IterationView;
  readonly scale: string;
  readonly at: number;
};

/** Drawn only when something in it has changed: most of a long run stays as it is. */
function Column({ one, rows, width, scale, at }: ColumnProps) {
  const stillGrows = one.endedAt === null || one.wait?.ms === null;
  return useMemo(
    () => (
      <g transform={`translate(${one.index * width} 0)`} data-index={one.index}>
        {rows.map((row) => drawCell(row, one, width))}
      </g>
    ),
    [one, scale, stillGrows && at],
  );
}

function drawCell(row: PlacedRow, one: IterationView, width: number) {
  const { top, height, max, headroom = 0, bars, curve, sign } = row;
  const size = Math.max(4, Math.min(34, width - Math.max(3, width * 0.3)));
  const total = curve?.[one.index];
  let y = top + height;
  const shapes = bars?.(one).map(([looks, amount]) => {
    if (amount <= 0) return null;
    const high = Math.max(1, (amount / max) * (height - headroom));
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
