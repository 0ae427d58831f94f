import { totalTokens } from '../../core/turn.ts';
import { type IterationPicture, type Picture, timeByKind } from '../../view/picture.ts';
import { formatCost, formatTokens } from '../../view/units.ts';
import { h, label, oncePerFrame, svg } from './dom.ts';
import { duration } from './format.ts';
import { markShape } from './marks.ts';

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

type Row = {
  readonly name: string;
  readonly note: string;
  readonly height: number;
  readonly legend?: readonly (readonly [className: string, name: string])[];
  /** Behind all columns: lines across. */
  readonly behind?: (g: SVGGElement, top: number, width: number) => void;
  readonly draw: (g: SVGGElement, one: IterationPicture, top: number, width: number) => void;
};

const headHeight = 22;
const gap = 18;
const overscan = 10;
/** Of which nothing is known. */
const lowRow = 16;

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

function rowsOf(picture: Picture, now: number): Row[] {
  return [
    outcomeRow,
    timeRow(picture, now),
    tokenRow(picture),
    costRow(picture),
    contextRow(picture),
    ...guardrailRows(picture),
    changeRow(picture),
  ];
}

const outcomeRow: Row = {
  name: 'Outcome',
  note: '',
  height: 18,
  draw: (g, one, top, width) => {
    g.append(markShape(one.mark, width / 2, top + 9, width < 15 ? 0.8 : 1));
  },
};

function timeRow({ iterations }: Picture, now: number): Row {
  const parts = iterations.map((one) => timeByKind(one, now));
  const sums = parts.map(({ agent, review, checks, waiting }) => agent + review + checks + waiting);
  const max = Math.max(1, ...sums);
  const height = 64;
  const kinds = ['agent', 'review', 'checks', 'waiting'] as const;
  const shown = kinds.filter((kind) => kind === 'agent' || parts.some((part) => part[kind] > 0));
  return {
    name: 'Time',
    note: `up to ${duration(max)}`,
    height,
    legend: shown.map((kind) => [kind, kind]),
    draw: (g, one, top, width) => {
      const part = parts[one.index];
      if (part)
        stack(
          g,
          kinds.map((kind) => [kind, part[kind]]),
          max,
          top,
          height,
          width,
        );
    },
  };
}

function tokenRow({ iterations }: Picture): Row {
  const kinds = [
    ['input', 'inputTokens', 'in'],
    ['cache-write', 'cacheWriteTokens', 'cache write'],
    ['cache-read', 'cacheReadTokens', 'cache read'],
    ['output', 'outputTokens', 'out'],
  ] as const;
  const max = Math.max(1, ...iterations.map(({ usage }) => (usage ? totalTokens(usage) : 0)));
  const height = max === 1 ? lowRow : 64;
  return {
    name: 'Tokens',
    note: max === 1 ? 'not reported' : `up to ${formatTokens(max)}`,
    height,
    legend: max === 1 ? [] : kinds.map(([className, , name]) => [className, name]),
    draw: (g, { usage }, top, width) => {
      if (usage)
        stack(
          g,
          kinds.map(([className, key]) => [className, usage[key]]),
          max,
          top,
          height,
          width,
        );
    },
  };
}

/** The cost of each iteration as a bar, the sum as a line, the budget as the line that it must not cross. */
function costRow({ iterations, limits, usage }: Picture): Row {
  const height = usage.costUsd === undefined ? lowRow : 64;
  const own = iterations.map((one) => one.usage?.costUsd ?? 0);
  let running = 0;
  const sums = own.map((cost) => (running += cost));
  const budget = limits?.costUsd ?? null;
  const max = Math.max(1e-9, running, budget ?? 0);
  const told = usage.estimated ? 'estimated' : 'reported';
  const total = usage.costUsd === undefined ? 'not reported' : `${formatCost(running)} ${told}`;
  return {
    name: 'Cost',
    note: budget === null ? total : `${total}, budget ${formatCost(budget)}`,
    height,
    legend:
      running === 0
        ? []
        : [
            ['cost', 'iteration'],
            ['sum', 'running total'],
          ],
    behind: (g, top, width) => {
      const y = (value: number) => top + height - (value / max) * height;
      if (budget !== null) {
        const end = Math.max(2000, iterations.length * width);
        g.append(svg('line', { x1: 0, x2: end, y1: y(budget), y2: y(budget), class: 'budget' }));
      }
      if (running === 0) return;
      const points = sums.map((sum, index) => `${index * width + width / 2} ${y(sum).toFixed(1)}`);
      g.append(svg('path', { d: `M${points.join('L')}`, class: 'sum-line' }));
    },
    draw: (g, one, top, width) => {
      stack(g, [['cost', own[one.index] ?? 0]], max, top, height, width);
      if (running > 0)
        g.append(
          svg('circle', {
            cx: width / 2,
            cy: top + height - ((sums[one.index] ?? 0) / max) * height,
            r: 2,
            class: 'sum',
          }),
        );
    },
  };
}

const thresholds = [0.5, 0.6, 0.7, 0.8, 0.9];

/** Against the window where its size is known; a guess would be worse than none. */
function contextRow({ iterations }: Picture): Row {
  const window = iterations.findLast(({ context }) => context?.window)?.context?.window ?? null;
  const most = Math.max(0, ...iterations.map(({ context }) => context?.tokens ?? 0));
  const max = Math.max(1, window ?? most);
  const height = most === 0 ? lowRow : 56;
  const note =
    most === 0
      ? 'not reported'
      : window === null
        ? `up to ${formatTokens(most)}, window unknown`
        : `up to ${Math.round((most / window) * 100)} % of ${formatTokens(window)}`;
  return {
    name: 'Context',
    note,
    height,
    behind: (g, top, width) => {
      if (window === null) return;
      const end = Math.max(2000, iterations.length * width);
      for (const share of thresholds) {
        const y = top + height * (1 - share);
        g.append(
          svg('line', {
            x1: 0,
            x2: end,
            y1: y,
            y2: y,
            class: share === 0.9 ? 'threshold last' : 'threshold',
          }),
        );
      }
    },
    draw: (g, { context }, top, width) => {
      if (context === null) return;
      const share = context.tokens / max;
      const level = window === null ? 'plain' : share >= 0.9 ? 'high' : share >= 0.7 ? 'middle' : 'low';
      stack(g, [[`context ${level}`, context.tokens]], max, top, height, width);
    },
  };
}

/** A row for each guardrail; a cell opens its log. */
function guardrailRows({ iterations }: Picture): Row[] {
  const commands = new Set(iterations.flatMap(({ guardrails }) => guardrails.map(({ command }) => command)));
  return [...commands].map((command) => {
    const results = iterations.flatMap(({ guardrails }) =>
      guardrails.filter((check) => check.command === command),
    );
    const failed = results.filter(({ ok }) => ok === false).length;
    return {
      name: command,
      note: `${results.length - failed} of ${results.length} passed`,
      height: 18,
      draw: (g, one, top, width) => {
        const check = one.guardrails.findLast((other) => other.command === command);
        if (check === undefined) return;
        const size = Math.min(18, width - 3);
        const left = (width - size) / 2;
        const state = check.ok === null ? 'running' : check.ok ? 'pass' : 'fail';
        const cell = svg('rect', {
          x: left,
          y: top + (18 - size) / 2,
          width: size,
          height: size,
          rx: 3,
          class: `cell ${state}`,
        });
        cell.setAttribute('data-check', command);
        g.append(cell);
        const middle = `translate(${width / 2} ${top + 9}) scale(${size / 18})`;
        const sign = check.ok ? 'M-4.5 .3L-1.5 3.3L4.5 -3' : 'M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5';
        if (check.ok !== null) g.append(svg('path', { d: sign, class: 'sign', transform: middle }));
      },
    };
  });
}

function changeRow({ iterations }: Picture): Row {
  const height = 40;
  const max = Math.max(1, ...iterations.map(({ filesChanged }) => filesChanged));
  const commits = iterations.reduce((sum, one) => sum + one.commits, 0);
  const files = iterations.reduce((sum, one) => sum + one.filesChanged, 0);
  return {
    name: 'Changes',
    note: `${commits} commits, ${files} files left uncommitted`,
    height,
    legend: [
      ['files', 'files'],
      ['commit', 'commit'],
    ],
    draw: (g, one, top, width) => {
      stack(g, [['files', one.filesChanged]], max, top + 12, height - 12, width);
      if (one.commits > 0) {
        g.append(
          svg('rect', {
            x: width / 2 - 4,
            y: top,
            width: 8,
            height: 8,
            class: 'commit',
            transform: `rotate(45 ${width / 2} ${top + 4})`,
          }),
        );
        if (one.commits > 1 && width > 26)
          g.append(label(width / 2 + 9, top + 8, String(one.commits), 'small'));
      }
    },
  };
}

/** Parts on top of each other, the first one at the bottom. */
function stack(
  g: SVGGElement,
  parts: readonly (readonly [className: string, amount: number])[],
  max: number,
  top: number,
  height: number,
  width: number,
): void {
  const bar = Math.max(4, Math.min(34, width - Math.max(3, width * 0.3)));
  let y = top + height;
  for (const [className, amount] of parts) {
    if (!(amount > 0)) continue;
    const size = Math.max(1, (amount / max) * height);
    y -= size;
    g.append(
      svg('rect', {
        x: (width - bar) / 2,
        y,
        width: bar,
        height: size,
        class: `bar ${className}`,
        'data-amount': amount,
      }),
    );
  }
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
