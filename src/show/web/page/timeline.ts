import type { IterationView, RunView } from '../../../journal/run-view.ts';
import { h, label, oncePerFrame, svg } from './dom.ts';
import { duration } from './format.ts';
import { markShape } from './marks.ts';

/** The whole run on one line of time, in lanes: what happened when, and where the time went. */
export type Timeline = {
  readonly element: HTMLElement;
  show(view: RunView, selected: number, now: number): void;
};

type Lane = 'agent' | 'checks' | 'review' | 'waiting';
type Span = { readonly lane: Lane; readonly start: number; readonly end: number; readonly look: string };
/** A go of the loop on the line, where off time is left out: `shift` is what its own times are moved by. */
type Placed = {
  readonly one: IterationView;
  readonly from: number;
  readonly to: number;
  readonly spans: readonly Span[];
};

const laneHeight = 18;
const laneGap = 6;
const markRoom = 12;
const left = 76;
const top = 6;

export function createTimeline(events: {
  select(index: number): void;
  hover(index: number | null): void;
}): Timeline {
  const canvas = svg('svg', { class: 'timeline', role: 'img' });
  const element = h('div', { class: 'timeline-box' }, canvas);
  let placed: readonly Placed[] = [];
  let total = 1;
  let selected = -1;

  const draw = oncePerFrame(() => {
    const width = Math.max(240, element.clientWidth);
    const lanes = lanesOf(placed);
    const height = top + lanes.length * (laneHeight + laneGap) + 22;
    canvas.setAttribute('viewBox', `0 0 ${width} ${height}`);
    canvas.setAttribute('width', String(width));
    canvas.setAttribute('height', String(height));
    const x = (at: number) => left + (at / total) * (width - left - 8);
    const parts: SVGElement[] = [];
    for (const [row, lane] of lanes.entries()) {
      const y = top + row * (laneHeight + laneGap);
      parts.push(label(0, y + 13, lane, 'lane-name'));
      parts.push(
        svg('rect', { x: left, y, width: width - left - 8, height: laneHeight, rx: 4, class: 'lane' }),
      );
    }
    parts.push(...paths(placed, lanes, x), ...ends(placed, lanes, x));
    const chosen = placed[selected];
    if (chosen) {
      const from = x(chosen.from);
      parts.push(
        svg('rect', {
          x: from - 1,
          y: top - 3,
          width: Math.max(3, x(chosen.to) - from + 2),
          height: lanes.length * (laneHeight + laneGap),
          rx: 4,
          class: 'span-chosen',
        }),
      );
    }
    parts.push(...axis(total, x, height - 4, width));
    canvas.replaceChildren(...parts);
    canvas.setAttribute('aria-label', `${placed.length} iterations in ${duration(total)}`);
  });

  function indexAt(event: MouseEvent): number | null {
    const box = canvas.getBoundingClientRect();
    const at = ((event.clientX - box.left - left) / (box.width - left - 8)) * total;
    const found = placed.findLastIndex(({ from }) => from <= at);
    return at < 0 || found === -1 ? null : found;
  }

  canvas.addEventListener('mousemove', (event) => events.hover(indexAt(event)));
  canvas.addEventListener('mouseleave', () => events.hover(null));
  canvas.addEventListener('click', (event) => {
    const index = indexAt(event);
    if (index !== null) events.select(index);
  });
  new ResizeObserver(draw).observe(element);

  return {
    element,
    show(view, index, now) {
      placed = place(view.iterations, now);
      total = Math.max(1, placed.at(-1)?.to ?? 1);
      selected = index;
      draw();
    },
  };
}

/** One after the other; the time between two processes of a run belongs to nobody and is left out. */
function place(iterations: readonly IterationView[], now: number): Placed[] {
  let at = 0;
  return iterations.map((one) => {
    const end = one.endedAt ?? now;
    const waitMs = one.wait === null ? 0 : (one.wait.ms ?? Math.max(0, now - one.wait.startedAt));
    const from = at;
    const shift = from - one.startedAt;
    at = from + Math.max(0, end - one.startedAt) + waitMs;
    return { one, from, to: at, spans: spansOf(one, end, waitMs).map((span) => move(span, shift, at)) };
  });
}

function spansOf(one: IterationView, end: number, waitMs: number): Span[] {
  const spans: Span[] = [];
  if (one.agentStartedAt !== null) {
    const lane = one.prd?.mode === 'review' ? 'review' : 'agent';
    const until = one.agentMs === null ? end : one.agentStartedAt + one.agentMs;
    spans.push({ lane, start: one.agentStartedAt, end: until, look: one.mark });
  }
  for (const check of [...one.guardrails, ...one.verify]) {
    const look = check.ok === null ? 'running' : check.ok ? 'pass' : 'fail';
    spans.push({
      lane: 'checks',
      start: check.startedAt,
      end: check.startedAt + (check.ms ?? end - check.startedAt),
      look,
    });
  }
  if (one.wait !== null) spans.push({ lane: 'waiting', start: end, end: end + waitMs, look: 'waiting' });
  return spans;
}

function move(span: Span, shift: number, last: number): Span {
  return { ...span, start: Math.min(last, span.start + shift), end: Math.min(last, span.end + shift) };
}

function lanesOf(placed: readonly Placed[]): Lane[] {
  const used = new Set(placed.flatMap(({ spans }) => spans.map(({ lane }) => lane)));
  return (['agent', 'checks', 'review', 'waiting'] as const).filter(
    (lane) => lane === 'agent' || used.has(lane),
  );
}

/** One path for all spans that look the same: a night has thousands. */
function paths(
  placed: readonly Placed[],
  lanes: readonly Lane[],
  x: (at: number) => number,
): SVGPathElement[] {
  const shapes = new Map<string, string[]>();
  for (const { spans } of placed) {
    for (const { lane, start, end, look } of spans) {
      const y = top + lanes.indexOf(lane) * (laneHeight + laneGap) + 2;
      const from = x(start);
      const width = Math.max(1.2, x(end) - from - 0.6);
      const key = `span ${look}`;
      const list = shapes.get(key) ?? [];
      list.push(`M${from.toFixed(1)} ${y}h${width.toFixed(1)}v${laneHeight - 4}h${(-width).toFixed(1)}z`);
      shapes.set(key, list);
    }
  }
  return [...shapes].map(([className, list]) => svg('path', { d: list.join(''), class: className }));
}

/** How each iteration came out, at the end of its bar; the ordinary ones only where there is room. */
function ends(
  placed: readonly Placed[],
  lanes: readonly Lane[],
  x: (at: number) => number,
): SVGPathElement[] {
  let last = Number.NEGATIVE_INFINITY;
  return placed.flatMap(({ one, from, to, spans }) => {
    const turn = spans.find(({ lane }) => lane === 'agent' || lane === 'review');
    if (turn === undefined) return [];
    const width = x(turn.end) - x(turn.start);
    const at = x(turn.end) - (width > markRoom ? markRoom / 2 : 0);
    const isPlain = one.mark === 'went-on' && x(to) - x(from) < markRoom;
    if (isPlain || at - last < markRoom) return [];
    last = at;
    const y = top + lanes.indexOf(turn.lane) * (laneHeight + laneGap) + laneHeight / 2;
    return [markShape(one.mark, at, y)];
  });
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

function axis(total: number, x: (at: number) => number, y: number, width: number): SVGTextElement[] {
  const wanted = Math.max(2, Math.floor((width - left) / 110));
  const step = (steps.find((seconds) => total / (seconds * 1000) <= wanted) ?? 86_400) * 1000;
  const ticks: SVGTextElement[] = [];
  for (let at = 0; at <= total; at += step) {
    ticks.push(label(x(at), y, at === 0 ? '0' : duration(at), at === 0 ? 'tick first' : 'tick'));
  }
  return ticks;
}
