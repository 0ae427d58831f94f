import { totalTokens } from '../../../core/turn.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import { byUrgency, isLive, type LoopSummary, type Status } from '../summary.ts';
import { button, figure, fill, h, svg } from './dom.ts';
import { clock, duration, plural } from './format.ts';
import { markShape } from './marks.ts';

export type Overview = {
  readonly element: HTMLElement;
  show(loops: ReadonlyMap<string, LoopSummary>): void;
  focusFilter(): void;
  /** Moves the focus from card to card. */
  move(step: number): void;
};

export const statusNames: Readonly<Record<Status, string>> = {
  'needs-you': 'needs you',
  running: 'running',
  waiting: 'waiting',
  paused: 'paused',
  done: 'done',
  stopped: 'stopped',
  failed: 'not done',
};

const groups: readonly (readonly [title: string, fits: (status: Status) => boolean])[] = [
  ['Needs you', (status) => status === 'needs-you'],
  ['At work', (status) => status === 'running' || status === 'waiting' || status === 'paused'],
  ['Ended', (status) => !isLive(status)],
];
const shownAtOnce = 60;

/** All loops, those that wait for a person first. */
export function createOverview(open: (id: string) => void): Overview {
  const totals = h('div', { class: 'totals', attrs: { 'aria-live': 'off' } });
  const filter = h('input', {
    class: 'filter',
    attrs: { type: 'search', placeholder: 'Filter ( / )', 'aria-label': 'Filter loops' },
  });
  const list = h('div', { class: 'groups' });
  const element = h(
    'main',
    { class: 'overview', attrs: { id: 'main' } },
    h('h1', { class: 'unseen', text: 'All loops' }),
    h('div', { class: 'toolbar' }, totals, filter),
    list,
  );
  let loops: ReadonlyMap<string, LoopSummary> = new Map();
  let limit = shownAtOnce;

  function draw(): void {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (loop: LoopSummary) =>
      `${loop.name} ${loop.title} ${loop.agent} ${loop.status} ${loop.folder} ${loop.detail}`.toLowerCase();
    const all = [...loops.values()].sort(byUrgency);
    const found = all.filter((loop) => words.every((word) => text(loop).includes(word)));
    const focused = (document.activeElement as HTMLElement | null)?.dataset.id;
    fill(totals, ...totalsOf(all));
    fill(
      list,
      ...groups.map(([title, fits]) =>
        group(
          title,
          found.filter(({ status }) => fits(status)),
        ),
      ),
      all.length === 0 &&
        h(
          'p',
          { class: 'empty' },
          'No loop here yet. Start one: ',
          h('code', { text: 'ralph run -p "your task"' }),
        ),
      all.length > 0 && found.length === 0 && h('p', { class: 'empty', text: 'Nothing fits the filter.' }),
    );
    if (focused) list.querySelector<HTMLElement>(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  function group(title: string, own: readonly LoopSummary[]): HTMLElement | null {
    if (own.length === 0) return null;
    const rest = own.length - limit;
    const showAll = () => {
      limit = Number.POSITIVE_INFINITY;
      draw();
    };
    return h(
      'section',
      {},
      h('h2', {}, title, h('span', { class: 'count', text: String(own.length) })),
      h('div', { class: 'cards' }, ...own.slice(0, limit).map((loop) => card(loop, open))),
      rest > 0 && button(`Show ${rest} more`, showAll, { class: 'more' }),
    );
  }

  filter.addEventListener('input', draw);
  return {
    element,
    show(next) {
      loops = next;
      draw();
    },
    focusFilter() {
      filter.focus();
      filter.select();
    },
    move(step) {
      const cards = [...list.querySelectorAll<HTMLElement>('.loop')];
      const at = cards.indexOf(document.activeElement as HTMLElement);
      cards[Math.max(0, Math.min(cards.length - 1, at + step))]?.focus();
    },
  };
}

function totalsOf(loops: readonly LoopSummary[]): HTMLElement[] {
  const count = (...wanted: Status[]) => loops.filter(({ status }) => wanted.includes(status)).length;
  const costs = loops.flatMap(({ usage }) => usage.costUsd ?? []);
  const tokens = loops.reduce((sum, { usage }) => sum + totalTokens(usage), 0);
  const isEstimate = loops.some(({ usage }) => usage.estimated);
  const figures: [string, string, string][] = [
    ['need you', String(count('needs-you')), count('needs-you') > 0 ? 'ask' : ''],
    ['at work', String(count('running', 'waiting', 'paused')), ''],
    ['done', String(count('done')), ''],
    ['not done', String(count('failed', 'stopped')), ''],
    ['tokens', formatTokens(tokens), ''],
    [
      isEstimate ? 'cost, estimated in part' : 'cost',
      costs.length === 0 ? 'not reported' : formatCost(costs.reduce((sum, cost) => sum + cost, 0)),
      '',
    ],
  ];
  return figures.map(([name, value, tone]) => figure(name, value, tone));
}

function card(loop: LoopSummary, open: (id: string) => void): HTMLElement {
  const share = loop.stories
    ? loop.stories.done / Math.max(1, loop.stories.total)
    : loop.of
      ? loop.iteration / loop.of
      : 0;
  const bar = h('div', { class: 'progress' }, h('i'));
  (bar.firstElementChild as HTMLElement).style.width = `${Math.min(100, share * 100)}%`;
  return h(
    'a',
    {
      class: `loop card ${loop.status}`,
      attrs: { href: `#/loop/${encodeURIComponent(loop.id)}`, 'data-id': loop.id },
      on: {
        click: (event) => {
          if (event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
          event.preventDefault();
          open(loop.id);
        },
      },
    },
    h(
      'div',
      { class: 'loop-head' },
      h('b', { class: 'name', text: loop.name }),
      h('span', { class: `pill ${loop.status}`, text: statusNames[loop.status] }),
    ),
    h('p', { class: 'title', text: loop.title }),
    h('p', { class: 'detail', text: loop.detail }),
    sparkline(loop),
    bar,
    h(
      'div',
      { class: 'facts' },
      h('span', {
        text: `${loop.stories ? `${loop.stories.done}/${loop.stories.total} stories · ` : ''}iteration ${loop.iteration}${loop.of ? `/${loop.of}` : ''}`,
      }),
      elapsed(loop),
      loop.usage.costUsd !== undefined &&
        h('span', { text: `${formatCost(loop.usage.costUsd)}${loop.usage.estimated ? ' est.' : ''}` }),
      h('span', { text: loop.agent }),
      isLive(loop.status) && (loop.status !== 'needs-you' || loop.kind === 'worker')
        ? idle(loop)
        : loop.startedAt !== null && h('span', { text: clock(loop.startedAt) }),
    ),
  );
}

/** How long it is at work; while it is, the page counts on. */
function elapsed({ status, elapsedMs, updatedAt }: LoopSummary): HTMLElement {
  const isGoing = updatedAt !== null && (status === 'running' || status === 'waiting');
  if (!isGoing) return h('span', { text: duration(elapsedMs) });
  const from = updatedAt - elapsedMs;
  return h('span', {
    text: duration(Math.max(elapsedMs, Date.now() - from)),
    attrs: { 'data-from': from },
  });
}

function idle({ updatedAt }: LoopSummary): HTMLElement | null {
  if (updatedAt === null) return null;
  return h('span', {
    text: `last sign ${duration(Math.max(0, Date.now() - updatedAt))} ago`,
    attrs: { 'data-since': updatedAt },
  });
}

/** How the last iterations came out, each by its shape. */
function sparkline({ marks }: LoopSummary): SVGSVGElement | null {
  if (marks.length === 0) return null;
  const step = 14;
  const canvas = svg('svg', {
    class: 'spark',
    viewBox: `0 0 ${24 * step} 14`,
    preserveAspectRatio: 'xMinYMid meet',
    height: 14,
    role: 'img',
    'aria-label': `${plural(marks.length, 'iteration')}, the last one: ${marks.at(-1)}`,
  });
  canvas.append(...marks.slice(-24).map((mark, index) => markShape(mark, index * step + 7, 7)));
  return canvas;
}
