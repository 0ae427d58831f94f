import type { IterationPicture, Picture } from '../../view/picture.ts';
import { type Row, rowsOf } from './column-rows.ts';
import { h, label, oncePerFrame, svg } from './dom.ts';

/** One picture below the other, with a column for each iteration: what belongs together stands above each other. */
export type Columns = {
  readonly element: HTMLElement;
  show(picture: Picture, selected: number, now: number): void;
};

export type ColumnEvents = {
  select(index: number): void;
  openCheck(index: number, command: string): void;
  hover(index: number | null): void;
};

const headHeight = 22;
const gap = 18;
const overscan = 10;

export function createColumns(events: ColumnEvents): Columns {
  const labels = h('div', { class: 'row-labels' });
  const canvas = svg('svg', { class: 'columns', role: 'img' });
  const cursor = svg('rect', { class: 'cursor', y: 0 });
  const chosen = svg('rect', { class: 'chosen', y: 0 });
  const scroller = h(
    'div',
    {
      class: 'scroller',
      attrs: { tabindex: 0, role: 'group', 'aria-label': 'Iterations: left and right arrow choose one' },
    },
    canvas,
  );
  const element = h('div', { class: 'strip' }, labels, scroller);
  let picture: Picture | null = null;
  let rows: Row[] = [];
  let width = 24;
  let selected = -1;
  let labelsFor = '';
  let now = 0;

  const draw = oncePerFrame(() => {
    if (picture !== null) render(picture);
  });

  function render(current: Picture): void {
    const { iterations } = current;
    rows = rowsOf(current, now);
    const room = scroller.clientWidth || 800;
    width = Math.max(11, Math.min(72, Math.floor(room / Math.max(1, iterations.length))));
    const all = Math.max(room, iterations.length * width);
    const height = headHeight + rows.reduce((sum, row) => sum + row.height + gap, 0);
    const wasAtEnd = scroller.scrollLeft + room >= canvas.clientWidth - 2;
    setSize(canvas, all, height);
    if (wasAtEnd) scroller.scrollLeft = all;
    const first = Math.max(0, Math.floor(scroller.scrollLeft / width) - overscan);
    const last = Math.min(iterations.length, Math.ceil((scroller.scrollLeft + room) / width) + overscan);
    const behind = svg('g');
    const front = svg('g');
    let top = headHeight;
    for (const row of rows) {
      behind.append(
        svg('line', {
          x1: 0,
          x2: all,
          y1: top + row.height + 0.5,
          y2: top + row.height + 0.5,
          class: 'base',
        }),
      );
      row.behind?.(behind, top, width);
      for (const one of iterations.slice(first, last)) {
        const g = svg('g', { transform: `translate(${one.index * width} 0)`, 'data-index': one.index });
        row.draw(g, one, top, width);
        front.append(g);
      }
      row.inFront?.(front, top, scroller.scrollLeft);
      top += row.height + gap;
    }
    front.append(...numbers(iterations, first, last, width));
    place(chosen, selected, width, height);
    place(cursor, -1, width, height);
    canvas.replaceChildren(chosen, cursor, behind, front);
    canvas.setAttribute('aria-label', describe(current));
    drawLabels();
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
            h('span', { class: 'key' }, h('i', { class: className }), document.createTextNode(name)),
          ),
        );
        cell.style.height = `${row.height + gap}px`;
        return cell;
      }),
    );
  }

  function indexAt(event: MouseEvent): number | null {
    const index = Math.floor((event.clientX - canvas.getBoundingClientRect().left) / width);
    return picture !== null && index >= 0 && index < picture.iterations.length ? index : null;
  }

  scroller.addEventListener('scroll', draw, { passive: true });
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
    if (step === undefined || picture === null) return;
    event.preventDefault();
    events.select(Math.max(0, Math.min(picture.iterations.length - 1, selected + step)));
  });
  new ResizeObserver(draw).observe(scroller);

  return {
    element,
    show(next, index, at) {
      now = at;
      picture = next;
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

/** As many numbers as have room. */
function numbers(
  iterations: readonly IterationPicture[],
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

function describe({ iterations, claims }: Picture): string {
  return `${iterations.length} iterations: time, tokens, cost, context, guardrails and changes of each. ${claims.rejected} claims rejected, ${claims.accepted} accepted.`;
}
