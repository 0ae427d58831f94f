import type { IterationView, RunView } from '../../../journal/run-view.ts';
import { type Row, rowsOf } from './column-rows.ts';
import { h, label, oncePerFrame, svg } from './dom.ts';

/** One view below the other, with a column for each iteration: what belongs together stands above each other. */
export type Columns = {
  readonly element: HTMLElement;
  show(view: RunView, selected: number, now: number): void;
};

export type ColumnEvents = {
  select(index: number): void;
  openCheck(index: number, command: string): void;
  hover(index: number | null): void;
};

const headHeight = 22;
const gap = 18;
/** Columns that are drawn beyond what is in view, so that not every scroll draws anew. */
const overscan = 30;

export function createColumns(events: ColumnEvents): Columns {
  const labels = h('div', { class: 'row-labels' });
  const canvas = svg('svg', { class: 'columns', role: 'img' });
  const cursor = svg('rect', { class: 'cursor', y: 0 });
  const chosen = svg('rect', { class: 'chosen', y: 0 });
  const behind = svg('g');
  const front = svg('g');
  /** Stays at the left edge of the view. */
  const words = svg('g');
  canvas.append(chosen, cursor, behind, front, words);
  const scroller = h(
    'div',
    {
      class: 'scroller',
      attrs: { tabindex: 0, role: 'group', 'aria-label': 'Iterations: left and right arrow choose one' },
    },
    canvas,
  );
  const element = h('div', { class: 'strip' }, labels, scroller);
  let view: RunView | null = null;
  let rows: Row[] = [];
  let width = 24;
  let selected = -1;
  let labelsFor = '';
  let now = 0;
  let drawn = { first: 0, last: 0 };
  let columns = new Map<number, Column>();
  let columnsFor = '';

  const draw = oncePerFrame(() => {
    if (view !== null) render(view);
  });

  function render(current: RunView): void {
    const { iterations } = current;
    rows = rowsOf(current, now);
    const room = scroller.clientWidth || 800;
    width = Math.max(11, Math.min(72, Math.floor(room / Math.max(1, iterations.length))));
    const all = Math.max(room, iterations.length * width);
    const height = headHeight + rows.reduce((sum, row) => sum + row.height + gap, 0);
    const wasAtEnd = scroller.scrollLeft + room >= canvas.clientWidth - 2;
    setSize(canvas, all, height);
    if (wasAtEnd) scroller.scrollLeft = all;
    const inView = columnsInView(iterations.length);
    const first = Math.max(0, inView.first - overscan);
    const last = Math.min(iterations.length, inView.last + overscan);
    drawn = { first, last };
    behind.replaceChildren();
    words.replaceChildren();
    for (const { row, top } of placed(rows)) {
      const y = top + row.height + 0.5;
      behind.append(svg('line', { x1: 0, x2: all, y1: y, y2: y, class: 'base' }));
      row.behind?.(behind, top, width);
      row.inFront?.(words, top);
    }
    drawColumns(iterations);
    behind.append(...numbers(iterations, first, last, width));
    place(chosen, selected, width, height);
    place(cursor, -1, width, height);
    words.setAttribute('transform', `translate(${scroller.scrollLeft} 0)`);
    canvas.setAttribute('aria-label', describe(current));
    drawLabels();
  }

  /** Only what is new or has changed: most of a long run stays as it was drawn. */
  function drawColumns(iterations: readonly IterationView[]): void {
    const scale = JSON.stringify([width, rows.map(({ name, height, scale }) => [name, height, scale])]);
    const known = scale === columnsFor ? columns : new Map<number, Column>();
    const before = [...columns.values()];
    columns = new Map();
    columnsFor = scale;
    for (const one of iterations.slice(drawn.first, drawn.last)) {
      const old = known.get(one.index);
      const isKept = old?.one === one && !stillGrows(one);
      columns.set(one.index, isKept ? old : { one, element: column(one, rows, width) });
    }
    for (const { one, element } of before) if (columns.get(one.index)?.element !== element) element.remove();
    let place = front.firstElementChild;
    for (const { element } of columns.values()) {
      if (place === element) place = place.nextElementSibling;
      else front.insertBefore(element, place);
    }
  }

  function columnsInView(count: number): { first: number; last: number } {
    const left = scroller.scrollLeft;
    const last = Math.ceil((left + scroller.clientWidth) / width);
    return { first: Math.max(0, Math.floor(left / width)), last: Math.min(count, last) };
  }

  /** What was drawn beyond the view needs no drawing when it comes into it. */
  function onScroll(): void {
    words.setAttribute('transform', `translate(${scroller.scrollLeft} 0)`);
    const { first, last } = columnsInView(view?.iterations.length ?? 0);
    if (first < drawn.first || last > drawn.last) draw();
  }

  function drawLabels(): void {
    const key = JSON.stringify(rows.map(({ name, note, height }) => [name, note, height]));
    if (key === labelsFor) return;
    labelsFor = key;
    labels.replaceChildren(
      h('div', { class: 'row-head', text: 'Iteration' }),
      ...rows.map((row) => {
        const cell = h(
          'div',
          { class: 'row-label' },
          h('b', { text: row.name, title: row.name }),
          h('span', { class: 'note', text: row.note }),
          ...(row.legend ?? []).map(([className, name]) =>
            h('span', { class: 'key' }, h('i', { class: className }), name),
          ),
        );
        cell.style.height = `${row.height + gap}px`;
        return cell;
      }),
    );
  }

  function indexAt(event: MouseEvent): number | null {
    const index = Math.floor((event.clientX - canvas.getBoundingClientRect().left) / width);
    return view !== null && index >= 0 && index < view.iterations.length ? index : null;
  }

  scroller.addEventListener('scroll', onScroll, { passive: true });
  canvas.addEventListener('mousemove', (event) => {
    const index = indexAt(event);
    place(cursor, index ?? -1, width, canvas.clientHeight);
    events.hover(index);
  });
  canvas.addEventListener('mouseleave', () => {
    place(cursor, -1, width, 0);
    events.hover(null);
  });
  canvas.addEventListener('click', (event) => {
    const index = indexAt(event);
    if (index === null) return;
    const command = (event.target as Element).getAttribute('data-check');
    events.select(index);
    if (command !== null) events.openCheck(index, command);
  });
  scroller.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
    if (step === undefined || view === null) return;
    event.preventDefault();
    events.select(Math.max(0, Math.min(view.iterations.length - 1, selected + step)));
  });
  new ResizeObserver(draw).observe(scroller);

  return {
    element,
    show(next, index, at) {
      now = at;
      view = next;
      if (index !== selected) {
        selected = index;
        const left = index * width;
        const isSeen =
          left >= scroller.scrollLeft && left + width <= scroller.scrollLeft + scroller.clientWidth;
        if (!isSeen) scroller.scrollLeft = left - scroller.clientWidth / 2;
      }
      draw();
    },
  };
}

/** An iteration as it was drawn. */
type Column = { readonly one: IterationView; readonly element: SVGGElement };

function column(one: IterationView, rows: readonly Row[], width: number): SVGGElement {
  const g = svg('g', { transform: `translate(${one.index * width} 0)`, 'data-index': one.index });
  for (const { row, top } of placed(rows)) row.draw(g, one, top, width);
  return g;
}

function stillGrows({ endedAt, wait }: IterationView): boolean {
  return endedAt === null || wait?.ms === null;
}

function placed(rows: readonly Row[]): { row: Row; top: number }[] {
  let top = headHeight;
  return rows.map((row) => {
    const own = { row, top };
    top += row.height + gap;
    return own;
  });
}

/** As many numbers as have room. */
function numbers(
  iterations: readonly IterationView[],
  first: number,
  last: number,
  width: number,
): SVGTextElement[] {
  const every = [1, 2, 5, 10, 20, 50].find((step) => step * width >= 26) ?? 100;
  return iterations
    .slice(first, last)
    .filter(({ iteration, index }) => index === 0 || iteration % every === 0)
    .map(({ iteration, index }) => label(index * width + width / 2, 14, String(iteration), 'number'));
}

function place(rect: SVGRectElement, index: number, width: number, height: number): void {
  rect.setAttribute('x', String(index * width));
  rect.setAttribute('width', String(index < 0 ? 0 : width));
  rect.setAttribute('height', String(height));
}

function setSize(canvas: SVGSVGElement, width: number, height: number): void {
  if (canvas.getAttribute('width') !== String(width)) canvas.setAttribute('width', String(width));
  if (canvas.getAttribute('height') !== String(height)) canvas.setAttribute('height', String(height));
}

function describe({ iterations, claims }: RunView): string {
  return `${iterations.length} iterations: time, tokens, cost, context, guardrails and changes of each. ${claims.rejected} claims rejected, ${claims.accepted} accepted.`;
}
