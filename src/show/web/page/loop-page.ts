import {
  elapsedAt,
  type IterationView,
  isOpen,
  type RunView,
  skippedText,
  timeByKind,
} from '../../../journal/run-view.ts';
import { formatCost } from '../../terminal/units.ts';
import type { ViewUpdate } from '../stream.ts';
import { isLive, type LoopSummary } from '../summary.ts';
import type { Api } from './api.ts';
import { createColumns } from './columns.ts';
import { actionButtons } from './dialogs.ts';
import { card, figure, fill, h, note } from './dom.ts';
import { clock, cost, duration, markNames, plural, tokens } from './format.ts';
import { createPanel } from './iteration-panel.ts';
import { markIcon, markOrder } from './marks.ts';
import { statusNames } from './overview.ts';
import { stopCard } from './stop-card.ts';
import { tasksCard } from './tasks.ts';
import { terminalView } from './terminal.ts';
import { createTimeline } from './timeline.ts';

export type LoopPage = {
  readonly element: HTMLElement;
  update(update: ViewUpdate): void;
  /** What the page of all loops knows of it. */
  know(summary: LoopSummary): void;
  /** It is not there any more. */
  leave(): void;
  step(by: number): void;
  /** Once a second: what is still going on grows. */
  tick(): void;
};

/** One loop in all its views. */
export function createLoopPage(id: string, api: Api, hasControl: () => boolean): LoopPage {
  let view: RunView | null = null;
  let summary: LoopSummary | undefined;
  let selected = -1;
  let isFollowing = true;
  let hovered: number | null = null;
  let drawnCard = '';
  let drawnTasks = '';
  let drawnLegend = '';

  const title = h('div', { class: 'loop-title' });
  const buttons = h('div', { class: 'actions' });
  const told = h('p', { class: 'told', attrs: { role: 'status' } });
  const figures = h('div', { class: 'totals' });
  const stop = h('div');
  const tasks = h('div');
  const terminal = h('div');
  const readout = h('p', { class: 'readout' });
  const events = { select, hover, openCheck: (_index: number, command: string) => panel.openCheck(command) };
  const timeline = createTimeline(events);
  const columns = createColumns(events);
  const panel = createPanel(api, id);
  const notices = h('div');
  const legend = h('div', { class: 'legend' });
  const element = h(
    'main',
    { class: 'loop-page', attrs: { id: 'main' } },
    h('div', { class: 'loop-top' }, title, buttons),
    told,
    stop,
    figures,
    terminal,
    tasks,
    card('Timeline', { beside: legend }, timeline.element),
    card('Iteration by iteration', { looks: 'strip-card', beside: readout }, columns.element),
    panel.element,
    notices,
  );

  function select(index: number): void {
    selected = index;
    isFollowing = view !== null && index === view.iterations.length - 1;
    draw();
  }

  function hover(index: number | null): void {
    hovered = index;
    drawReadout();
  }

  function draw(): void {
    if (view === null) return;
    if (isFollowing) selected = view.iterations.length - 1;
    drawHead(view);
    const marksNow = view.iterations.map(({ mark, wait }) => `${mark}${wait === null}`);
    const legendKey = [...new Set(marksNow)].join(' ');
    if (legendKey !== drawnLegend) fill(legend, ...legendOf(view));
    drawnLegend = legendKey;
    timeline.show(view, selected, now(view, summary));
    columns.show(view, selected, now(view, summary));
    const one = view.iterations[selected];
    panel.element.hidden = one === undefined;
    if (one) panel.show(view, one, now(view, summary));
    drawReadout();
  }

  function drawHead(current: RunView): void {
    fill(
      title,
      h('h1', { text: summary?.kind === 'worker' ? summary.name : firstLine(current.task) || current.run }),
      h(
        'p',
        { class: 'note' },
        summary !== undefined &&
          h('span', { class: `pill ${summary.status}`, text: statusNames[summary.status] }),
        h('span', { class: 'now-doing', text: summary?.detail ?? '' }),
      ),
      note([current.run, current.agent, current.agentVersion, current.cwd].filter(Boolean).join(' · ')),
    );
    fill(figures, ...figuresOf(current, now(current, summary)));
    const cardKey = `${current.seq} ${summary?.status} ${summary?.detail} ${summary?.next} ${current.outcome}`;
    if (cardKey !== drawnCard) {
      drawnCard = cardKey;
      fill(stop, stopCard(current, summary));
      fill(notices, noticeList(current));
    }
    const taskKey = `${current.iterations.at(-1)?.prd ? current.seq : ''} ${current.state} ${current.stories.length}`;
    if (taskKey !== drawnTasks) {
      drawnTasks = taskKey;
      fill(tasks, tasksCard(current));
    }
  }

  function drawReadout(): void {
    const one = view?.iterations[hovered ?? selected];
    readout.textContent = view && one ? say(one, view.source, now(view, summary)) : '';
  }

  return {
    element,
    update({ iterations, count, id: _id, ...head }) {
      const before = view === null || view.iterations.length > count ? [] : view.iterations;
      const merged = [...before];
      for (const one of iterations) merged[one.index] = one;
      view = { ...head, iterations: merged };
      draw();
    },
    know(next) {
      const before = JSON.stringify(summary?.offers);
      summary = next;
      if (hasControl() && before !== JSON.stringify(next.offers))
        fill(buttons, ...actionButtons(api, next, (text) => (told.textContent = text)));
      if (next.hasTerminal && api.isLive && terminal.childElementCount === 0) {
        fill(terminal, card('Terminal', {}, terminalView(api, id)));
      }
      draw();
    },
    leave() {
      summary = undefined;
      fill(buttons);
      fill(terminal);
      told.textContent = 'It is not there any more: somebody removed it.';
    },
    step(by) {
      if (view === null || view.iterations.length === 0) return;
      select(Math.max(0, Math.min(view.iterations.length - 1, selected + by)));
    },
    tick() {
      if (view !== null && isGoing(view, summary)) draw();
    },
  };
}

/** The end of what is shown: now for what goes on, its last sign of life for what does not. */
function now(view: RunView, summary: LoopSummary | undefined): number {
  return isGoing(view, summary) ? Date.now() : (view.updatedAt ?? Date.now());
}

/** A person who is asked, and one who paused it, are waited for. */
function isGoing(view: RunView, summary: LoopSummary | undefined): boolean {
  return summary !== undefined && isLive(summary.status) && isOpen(view);
}

function figuresOf(view: RunView, at: number): HTMLElement[] {
  const { iterations, limits, usage, claims, waitUntil, state } = view;
  const last = iterations.at(-1);
  const context = iterations.findLast((one) => one.context !== null)?.context ?? null;
  const toolCalls = iterations.reduce((sum, one) => sum + (one.toolCalls ?? 0), 0);
  const entries: (readonly [string, string])[] = [
    [last?.of ? `of ${last.of} iterations` : 'iterations', String(view.iteration)],
    ['at work', duration(elapsedAt(view, at))],
    ...(view.source === 'timeline'
      ? []
      : ([
          [limits?.costUsd ? `cost, budget ${formatCost(limits.costUsd)}` : 'cost', cost(usage)],
          ['tokens', tokens(usage)],
          ['tool calls', String(toolCalls)],
          ['claims accepted / rejected', `${claims.accepted} / ${claims.rejected}`],
        ] as const)),
  ];
  if (context?.window)
    entries.push(['context, last iteration', `${Math.round((context.tokens / context.window) * 100)} %`]);
  if (state === 'waiting' && waitUntil !== null)
    entries.push(['goes on in', duration(Math.max(0, waitUntil - at))]);
  return entries.map(([name, value]) => figure(name, value));
}

function say(one: IterationView, source: RunView['source'], at: number): string {
  const time = timeByKind(one, at);
  const parts = [
    `Iteration ${one.iteration}: ${markNames[one.mark]}`,
    duration(time.agent + time.review + time.checks + time.waiting),
    one.usage ? `${tokens(one.usage)} tokens` : '',
    one.usage?.costUsd === undefined ? '' : formatCost(one.usage.costUsd),
    one.context?.window ? `context ${Math.round((one.context.tokens / one.context.window) * 100)} %` : '',
    one.prd ? `${one.prd.mode} ${one.prd.story ?? ''}` : '',
    source === 'timeline' ? '' : plural(one.commits, 'commit'),
  ];
  return parts.filter(Boolean).join(' · ');
}

/** What is there to see, each with its shape. */
function legendOf({ iterations }: RunView): HTMLElement[] {
  const used = new Set(iterations.map(({ mark }) => mark));
  const marks = markOrder.filter((mark) => used.has(mark));
  const key = (sign: Element, name: string) => h('span', { class: 'key' }, sign, name);
  return [
    ...marks.map((mark) => key(markIcon(mark), markNames[mark])),
    ...(iterations.some(({ wait }) => wait !== null) ? [key(h('i', { class: 'waiting' }), 'waiting')] : []),
  ];
}

function noticeList(view: RunView): HTMLElement | null {
  const { notices } = view;
  const skipped = skippedText(view);
  if (notices.length === 0 && skipped === null) return null;
  return card(
    'Notices',
    {},
    skipped !== null && note(`${skipped}.`),
    h(
      'ul',
      { class: 'notices' },
      ...notices
        .slice(-20)
        .reverse()
        .map(({ at, text }) => h('li', {}, h('time', { text: clock(at) }), ` ${text}`)),
    ),
  );
}

function firstLine(text: string): string {
  return (text.split('\n').find((line) => line.trim() !== '') ?? '').replace(/^#+\s*/, '').slice(0, 160);
}
