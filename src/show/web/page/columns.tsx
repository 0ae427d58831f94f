import type { RefObject, TargetedMouseEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunView } from '../../../journal/run-view.ts';
import { Axis, Background, Column, gap, headHeight, placeRows } from './column-drawing.tsx';
import { type Row, rowsOf } from './column-rows.tsx';
import { pointerX, useWidth } from './parts.tsx';
import { hovered, openLog, select, tab } from './state.ts';
import { type ChartProps, Tooltip, useHover } from './tooltip.tsx';

/** Columns come into the picture and leave it by so many at once, so that not every scroll draws anew. */
const chunk = 30;

/** Rows of charts over the same columns, one column for each iteration. */
export function Columns({ view, selected, at }: ChartProps) {
  const { iterations } = view;
  const [box, measured] = useWidth();
  const { tip, enter, leave } = useHover({ view, at });
  const room = measured || 800;
  const width = Math.max(11, Math.min(72, Math.floor(room / Math.max(1, iterations.length))));
  const all = Math.max(room, iterations.length * width);
  const rows = placeRows(rowsOf(view, at));
  const height = rows.reduce((sum, row) => sum + row.height + gap, headHeight);
  const scale = JSON.stringify([width, rows.map((row) => [row.name, row.top, row.max, row.barMax])]);
  const { onScroll, firstChunk } = useScrolling(box, { room, width, all, selected });
  const last = (firstChunk + 2) * chunk + Math.ceil(room / width);
  const shown = iterations.slice(Math.max(0, firstChunk - 1) * chunk, last);
  return (
    <div class="strip chart-box">
      <RowLabels rows={rows} />
      <Axis rows={rows} height={height} />
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
          onMouseMove={(event) => enter(event, indexAt(event, view, width))}
          onMouseLeave={leave}
          onClick={(event) => choose(event, indexAt(event, view, width))}
        >
          <Band looks="chosen" index={selected} width={width} height={height} />
          <Cursor width={width} height={height} />
          <Background rows={rows} width={width} />
          <g>
            {shown.map((one) => (
              <Column key={one.index} one={one} rows={rows} width={width} scale={scale} at={at} />
            ))}
          </g>
        </svg>
      </div>
      <Tooltip tip={tip} />
    </div>
  );
}

type Sizes = Readonly<Record<'room' | 'width' | 'all' | 'selected', number>>;

/** Keeps the chosen column in view, and the end of a run that grows. */
function useScrolling(box: RefObject<HTMLElement>, { room, width, all, selected }: Sizes) {
  const scrolled = useRef(0);
  const [firstChunk, setFirstChunk] = useState(() => Math.max(0, chunkAt(selected - room / width)));
  const wasAtEnd = scrolled.current + room >= (box.current?.scrollWidth ?? 0) - 2;
  function onScroll(): void {
    scrolled.current = box.current?.scrollLeft ?? 0;
    setFirstChunk(chunkAt(scrolled.current / width));
  }
  useLayoutEffect(() => {
    if (wasAtEnd) box.current?.scrollTo(all, 0);
    onScroll();
  }, [all]);
  useLayoutEffect(() => {
    const x = selected * width;
    const isSeen = x >= scrolled.current && x + width <= scrolled.current + room;
    if (!isSeen) box.current?.scrollTo(x - room / 2, 0);
    onScroll();
  }, [selected, width]);
  return { onScroll, firstChunk };
}

function chunkAt(index: number): number {
  return Math.floor(index / chunk);
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

type BandProps = Readonly<Record<'index' | 'width' | 'height', number>> & { readonly looks: string };

function Band({ looks, index, width, height }: BandProps) {
  return <rect class={looks} x={index * width} y={0} width={index < 0 ? 0 : width} height={height} />;
}

function Cursor(size: Pick<BandProps, 'width' | 'height'>) {
  return <Band looks="cursor" index={hovered.value ?? -1} {...size} />;
}
