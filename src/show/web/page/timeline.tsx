import { type Signal, useSignal } from '@preact/signals';
import type { IterationView } from '../../../journal/run-view.ts';
import { type Range, useBrush } from './brush.ts';
import { duration } from './format.ts';
import { MarkShape } from './marks.tsx';
import { pointerX, SmallButton, useWidth } from './parts.tsx';
import { select } from './state.ts';
import { timeStep } from './ticks.ts';
import { type ChartProps, Tooltip, useHover } from './tooltip.tsx';

const lanes = ['agent', 'checks', 'review', 'waiting'] as const;
type Lane = (typeof lanes)[number];
type Span = { readonly lane: Lane; readonly start: number; readonly end: number; readonly look: string };
/** A go of the loop on the line of time. */
type Placed = {
  readonly one: IterationView;
  readonly from: number;
  readonly to: number;
  readonly spans: readonly Span[];
};
type Scale = {
  readonly x: (at: number) => number;
  readonly y: (lane: Lane) => number;
  readonly right: number;
};

const laneHeight = 18;
const laneStep = laneHeight + 6;
const markRoom = 12;
const left = 76;
const top = 6;

/** The whole run on one line of time, in lanes: what happened when, and where the time went. */
export function Timeline({ view, selected, at }: ChartProps) {
  const [box, room] = useWidth();
  const zoom = useSignal<Range | null>(null);
  const { tip, enter, leave } = useHover({ view, at });
  const placed = place(view.iterations, at);
  const chosen = placed[selected];
  const total = Math.max(1, placed.at(-1)?.to ?? 1);
  const [start, end] = zoom.value ?? [0, total];
  const width = Math.max(240, room);
  const inner = width - left - 8;
  const used = new Set(placed.flatMap(({ spans }) => spans.map(({ lane }) => lane)));
  const shown = lanes.filter((lane) => lane === 'agent' || used.has(lane));
  const height = top + shown.length * laneStep + 22;
  const scale: Scale = {
    x: (moment) => left + ((moment - start) / (end - start)) * inner,
    y: (lane) => top + shown.indexOf(lane) * laneStep,
    right: left + inner,
  };
  const momentAt = (event: MouseEvent) => start + ((pointerX(event) - left) / inner) * (end - start);
  const indexAt = (moment: number) => {
    const index = moment < start ? -1 : placed.findLastIndex(({ from }) => from <= moment);
    return index === -1 ? null : index;
  };
  const brush = useBrush(momentAt, (end - start) * (6 / inner), (range, moment) => {
    if (range !== null) zoom.value = range;
    else select(indexAt(moment) ?? selected);
  });
  return (
    <>
      <div class="timeline-box chart-box" ref={box}>
        <svg
          class="timeline"
          role="img"
          aria-label={`${placed.length} iterations in ${duration(total)}; drag to zoom`}
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          {...brush.events}
          onMouseMove={(event) => enter(event, indexAt(momentAt(event)))}
          onMouseLeave={leave}
        >
          <clipPath id="timeline-clip">
            <rect x={left} y={0} width={inner} height={height} />
          </clipPath>
          {drawLanes(shown, scale, inner)}
          <g clip-path="url(#timeline-clip)">
            {spanPaths(placed, scale)}
            {endMarks(placed, scale)}
            {chosen && drawChosen(chosen, shown.length * laneStep, scale.x)}
            {brush.range.value && drawBrushed(brush.range.value, height - 20, scale.x)}
          </g>
          {tickLabels([start, end], width, height - 4, scale.x)}
        </svg>
        <Tooltip tip={tip} />
      </div>
      {chosen && <ZoomButtons zoom={zoom} span={chosen} />}
    </>
  );
}

function drawLanes(shown: readonly Lane[], { y }: Scale, inner: number) {
  return shown.map((lane) => (
    <>
      <text x={0} y={y(lane) + 13} class="lane-name">
        {lane}
      </text>
      <rect x={left} y={y(lane)} width={inner} height={laneHeight} rx={4} class="lane" />
    </>
  ));
}

type ZoomProps = { readonly zoom: Signal<Range | null>; readonly span: Placed };

/** Zooms without a pointer. */
function ZoomButtons({ zoom, span: { from, to, one } }: ZoomProps) {
  const margin = Math.max(1, (to - from) * 0.1);
  return (
    <p class="zoom-buttons">
      <SmallButton
        text={`Zoom to iteration ${one.iteration}`}
        onClick={() => (zoom.value = [Math.max(0, from - margin), to + margin])}
      />
      {zoom.value !== null && (
        <SmallButton text="Whole run" data-escape onClick={() => (zoom.value = null)} />
      )}
      <span class="note">drag over the timeline to zoom</span>
    </p>
  );
}

/** Places the spans one after the other, without the time between two processes of a run. */
function place(iterations: readonly IterationView[], now: number): Placed[] {
  let at = 0;
  return iterations.map((one) => {
    const end = one.endedAt ?? now;
    const waitMs = one.wait === null ? 0 : (one.wait.ms ?? Math.max(0, now - one.wait.startedAt));
    const from = at;
    const to = from + Math.max(0, end - one.startedAt) + waitMs;
    at = to;
    const move = (moment: number) => Math.min(to, moment + from - one.startedAt);
    const spans = spansOf(one, end, waitMs).map((span) => ({
      ...span,
      start: move(span.start),
      end: move(span.end),
    }));
    return { one, from, to, spans };
  });
}

function spansOf(one: IterationView, end: number, waitMs: number): Span[] {
  const spans: Span[] = [];
  const start = one.agentStartedAt;
  if (start !== null) {
    const lane = one.prd?.mode === 'review' ? 'review' : 'agent';
    spans.push({ lane, start, end: one.agentMs === null ? end : start + one.agentMs, look: one.mark });
  }
  for (const { ok, startedAt, ms } of [...one.guardrails, ...one.verify]) {
    const look = ok === null ? 'running' : ok ? 'pass' : 'fail';
    spans.push({ lane: 'checks', start: startedAt, end: ms === null ? end : startedAt + ms, look });
  }
  if (one.wait !== null) spans.push({ lane: 'waiting', start: end, end: end + waitMs, look: 'waiting' });
  return spans;
}

/** Draws all spans of one look as a single path: a night has thousands. */
function spanPaths(placed: readonly Placed[], { x, y }: Scale) {
  const shapes = new Map<string, string>();
  for (const { lane, start, end, look } of placed.flatMap(({ spans }) => spans)) {
    const width = Math.max(1.2, x(end) - x(start) - 0.6).toFixed(1);
    const shape = `M${x(start).toFixed(1)} ${y(lane) + 2}h${width}v${laneHeight - 4}h-${width}z`;
    shapes.set(look, (shapes.get(look) ?? '') + shape);
  }
  return [...shapes].map(([look, shape]) => <path d={shape} class={`span ${look}`} />);
}

/** How each iteration came out, at the end of its bar. Where two would overlap, the more telling one stays. */
function endMarks(placed: readonly Placed[], { x, y, right }: Scale) {
  const marks = placed.flatMap(({ one, spans }) => {
    const turn = spans.find(({ lane }) => lane === 'agent' || lane === 'review');
    if (turn === undefined) return [];
    const end = x(turn.end);
    const at = end - (end - x(turn.start) > markRoom ? markRoom / 2 : 0);
    // The mark at the very end of the line is drawn whole.
    const place = end <= right + 1 ? Math.min(at, right - markRoom / 2) : at;
    return [{ mark: one.mark, at: place, y: y(turn.lane) + laneHeight / 2 }];
  });
  const taken: number[] = [];
  return marks
    .sort((a, b) => Number(a.mark === 'went-on') - Number(b.mark === 'went-on'))
    .filter(({ at }) => {
      const isFree = taken.every((other) => Math.abs(other - at) >= markRoom + 2);
      if (isFree) taken.push(at);
      return isFree;
    })
    .map(({ mark, at, y: middle }) => <MarkShape mark={mark} x={at} y={middle} />);
}

function drawChosen({ from, to }: Placed, height: number, x: Scale['x']) {
  const width = Math.max(3, x(to) - x(from) + 2);
  return <rect x={x(from) - 1} y={top - 3} width={width} height={height} rx={4} class="span-chosen" />;
}

function drawBrushed(range: Range, height: number, x: Scale['x']) {
  const [from, to] = [Math.min(...range), Math.max(...range)];
  return <rect x={x(from)} y={0} width={x(to) - x(from)} height={height} class="brushed" />;
}

/** Names as many round moments as have room for it. */
function tickLabels([start, end]: Range, width: number, y: number, x: Scale['x']) {
  const wanted = Math.max(2, Math.floor((width - left) / 110));
  const step = timeStep(end - start, wanted);
  const first = Math.ceil(start / step) * step;
  return Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, index) => {
    const tick = first + index * step;
    const looks = tick === start ? 'tick first' : 'tick';
    return (
      <text x={x(tick)} y={y} class={looks}>
        {tick === 0 ? 0 : duration(tick)}
      </text>
    );
  });
}
