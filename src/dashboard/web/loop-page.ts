import type { IterationPicture, Picture } from '../../view/picture.ts';
import { timeByKind } from '../../view/picture.ts';
import { formatCost } from '../../view/units.ts';
import type { PictureUpdate } from '../stream.ts';
import { isLive, type LoopSummary } from '../summary.ts';
import type { Api } from './api.ts';
import { createColumns } from './columns.ts';
import { actionButtons } from './dialogs.ts';
import { fill, h } from './dom.ts';
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
  update(update: PictureUpdate): void;
  /** What the page of all loops knows of it. */
  know(summary: LoopSummary): void;
  /** It is not there any more. */
  leave(): void;
  step(by: number): void;
  /** Once a second: what is still going on grows. */
  tick(): void;
};

/** One loop in all its pictures. */
export function createLoopPage(id: string, api: Api, hasControl: () => boolean): LoopPage {
  let picture: Picture | null = null;
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
    h(
      'section',
      { class: 'card', attrs: { 'aria-label': 'Timeline' } },
      h('header', {}, h('h2', { text: 'Timeline' }), legend),
      timeline.element,
    ),
    h(
      'section',
      { class: 'card strip-card', attrs: { 'aria-label': 'Iteration by iteration' } },
      h('header', {}, h('h2', { text: 'Iteration by iteration' }), readout),
      columns.element,
    ),
    panel.element,
    notices,
  );

  function select(index: number): void {
    selected = index;
    isFollowing = picture !== null && index === picture.iterations.length - 1;
    draw();
  }

  function hover(index: number | null): void {
    hovered = index;
    drawReadout();
  }

  function draw(): void {
    if (picture === null) return;
    if (isFollowing) selected = picture.iterations.length - 1;
    drawHead(picture);
    const marksNow = picture.iterations.map(({ mark, wait }) => `${mark}${wait === null}`);
    const legendKey = [...new Set(marksNow)].join(' ');
    if (legendKey !== drawnLegend) fill(legend, ...legendOf(picture));
    drawnLegend = legendKey;
    timeline.show(picture, selected, now(picture, summary));
    columns.show(picture, selected, now(picture, summary));
    const one = picture.iterations[selected];
    panel.element.hidden = one === undefined;
    if (one) panel.show(picture, one, now(picture, summary));
    drawReadout();
  }

  function drawHead(current: Picture): void {
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
      h('p', {
        class: 'note',
        text: [current.run, current.agent, current.agentVersion, current.cwd].filter(Boolean).join(' · '),
      }),
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
    const one = picture?.iterations[hovered ?? selected];
    readout.textContent = picture && one ? say(one, picture.told, now(picture, summary)) : '';
  }

  return {
    element,
    update({ iterations, count, id: _id, ...head }) {
      const before = picture === null || picture.iterations.length > count ? [] : picture.iterations;
      const merged = [...before];
      for (const one of iterations) merged[one.index] = one;
      picture = { ...head, iterations: merged };
      draw();
    },
    know(next) {
      const before = JSON.stringify(summary?.offers);
      summary = next;
      if (hasControl() && before !== JSON.stringify(next.offers))
        fill(buttons, ...actionButtons(api, next, (text) => (told.textContent = text)));
      if (next.hasTerminal && api.isLive && terminal.childElementCount === 0) {
        fill(
          terminal,
          h(
            'section',
            { class: 'card', attrs: { 'aria-label': 'Terminal' } },
            h('header', {}, h('h2', { text: 'Terminal' })),
            terminalView(api, id),
          ),
        );
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
      if (picture === null || picture.iterations.length === 0) return;
      select(Math.max(0, Math.min(picture.iterations.length - 1, selected + by)));
    },
    tick() {
      if (picture !== null && isGoing(picture, summary)) draw();
    },
  };
}

/** The end of what is shown: now for what goes on, its last sign of life for what does not. */
function now(picture: Picture, summary: LoopSummary | undefined): number {
  return isGoing(picture, summary) ? Date.now() : (picture.updatedAt ?? Date.now());
}

/** A person who is asked, and one who paused it, are waited for. */
function isGoing({ state }: Picture, summary: LoopSummary | undefined): boolean {
  return summary !== undefined && isLive(summary.status) && (state === 'going' || state === 'waiting');
}

function figuresOf(picture: Picture, at: number): HTMLElement[] {
  const { iterations, limits, usage, claims, updatedAt, waitUntil, state } = picture;
  const last = iterations.at(-1);
  const context = iterations.findLast((one) => one.context !== null)?.context ?? null;
  const elapsed = picture.elapsedMs + Math.max(0, at - (updatedAt ?? at));
  const toolCalls = iterations.reduce((sum, one) => sum + (one.toolCalls ?? 0), 0);
  const entries: (readonly [string, string])[] = [
    [last?.of ? `of ${last.of} iterations` : 'iterations', String(last?.iteration ?? 0)],
    ['at work', duration(elapsed)],
    ...(picture.told === 'timeline'
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
  return entries.map(([name, value]) =>
    h('div', { class: 'figure' }, h('b', { text: value }), h('span', { text: name })),
  );
}

function say(one: IterationPicture, told: Picture['told'], at: number): string {
  const time = timeByKind(one, at);
  const parts = [
    `Iteration ${one.iteration}: ${markNames[one.mark]}`,
    duration(time.agent + time.review + time.checks + time.waiting),
    one.usage ? `${tokens(one.usage)} tokens` : '',
    one.usage?.costUsd === undefined ? '' : formatCost(one.usage.costUsd),
    one.context?.window ? `context ${Math.round((one.context.tokens / one.context.window) * 100)} %` : '',
    one.prd ? `${one.prd.mode} ${one.prd.story ?? ''}` : '',
    told === 'timeline' ? '' : plural(one.commits, 'commit'),
  ];
  return parts.filter(Boolean).join(' · ');
}

/** What is there to see, each with its shape. */
function legendOf({ iterations }: Picture): HTMLElement[] {
  const used = new Set(iterations.map(({ mark }) => mark));
  const marks = markOrder.filter((mark) => used.has(mark));
  const key = (sign: Element, name: string) =>
    h('span', { class: 'key' }, sign, document.createTextNode(name));
  return [
    ...marks.map((mark) => key(markIcon(mark), markNames[mark])),
    ...(iterations.some(({ wait }) => wait !== null) ? [key(h('i', { class: 'waiting' }), 'waiting')] : []),
  ];
}

function noticeList({ notices, damaged }: Picture): HTMLElement | null {
  if (notices.length === 0 && damaged === 0) return null;
  return h(
    'section',
    { class: 'card', attrs: { 'aria-label': 'Notices' } },
    h('header', {}, h('h2', { text: 'Notices' })),
    damaged > 0 &&
      h('p', { class: 'note', text: `${plural(damaged, 'event')} of the journal could not be understood.` }),
    h(
      'ul',
      { class: 'notices' },
      ...notices
        .slice(-20)
        .reverse()
        .map(({ at, text }) =>
          h('li', {}, h('time', { text: clock(at) }), document.createTextNode(` ${text}`)),
        ),
    ),
  );
}

function firstLine(text: string): string {
  return (text.split('\n').find((line) => line.trim() !== '') ?? '').replace(/^#+\s*/, '').slice(0, 160);
}
