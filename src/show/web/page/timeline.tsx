import type { IterationView, RunView } from '../../../journal/run-view.ts';
import { duration } from './format.ts';
import { Label, MarkShape } from './marks.tsx';
import { pointerX, useWidth } from './parts.tsx';
import { hovered, select } from './state.ts';

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
/** Positions of moments and lanes in the drawing. */
type Scale = { readonly x: (at: number) => number; readonly y: (lane: Lane) => number };

const laneHeight = 18;
const laneStep = laneHeight + 6;
const markRoom = 12;
const left = 76;
const top = 6;

export type ChartProps = { readonly view: RunView; readonly selected: number; readonly at: number };

/** The whole run on one line of time, in lanes: what happened when, and where the time went. */
export function Timeline({ view, selected, at }: ChartProps) {
  const [box, room] = useWidth();
  const placed = place(view.iterations, at);
  const total = Math.max(1, placed.at(-1)?.to ?? 1);
  const width = Math.max(240, room);
  const inner = width - left - 8;
  const used = new Set(placed.flatMap(({ spans }) => spans.map(({ lane }) => lane)));
  const shown = lanes.filter((lane) => lane === 'agent' || used.has(lane));
  const height = top + shown.length * laneStep + 22;
  const scale: Scale = {
    x: (moment) => left + (moment / total) * inner,
    y: (lane) => top + shown.indexOf(lane) * laneStep,
  };
  function indexAt(event: MouseEvent): number | null {
    const moment = ((pointerX(event) - left) / inner) * total;
    const index = placed.findLastIndex(({ from }) => from <= moment);
    return moment < 0 || index === -1 ? null : index;
  }
  return (
    <div class="timeline-box" ref={box}>
      <svg
        class="timeline"
        role="img"
        aria-label={`${placed.length} iterations in ${duration(total)}`}
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        onMouseMove={(event) => (hovered.value = indexAt(event))}
        onMouseLeave={() => (hovered.value = null)}
        onClick={(event) => select(indexAt(event) ?? selected)}
      >
        {shown.map((lane) => (
          <>
            <Label x={0} y={scale.y(lane) + 13} looks="lane-name" text={lane} />
            <rect x={left} y={scale.y(lane)} width={inner} height={laneHeight} rx={4} class="lane" />
          </>
        ))}
        {spanPaths(placed, scale)}
        {endMarks(placed, scale)}
        <ChosenSpan span={placed[selected]} height={shown.length * laneStep} x={scale.x} />
        {ticks(total, width).map((tick) => (
          <Label
            x={scale.x(tick)}
            y={height - 4}
            looks={tick === 0 ? 'tick first' : 'tick'}
            text={tick === 0 ? 0 : duration(tick)}
          />
        ))}
      </svg>
    </div>
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

/** How each iteration came out, at the end of its bar; the ordinary ones only where there is room. */
function endMarks(placed: readonly Placed[], { x, y }: Scale) {
  let last = Number.NEGATIVE_INFINITY;
  return placed.map(({ one, from, to, spans }) => {
    const turn = spans.find(({ lane }) => lane === 'agent' || lane === 'review');
    if (turn === undefined) return null;
    const at = x(turn.end) - (x(turn.end) - x(turn.start) > markRoom ? markRoom / 2 : 0);
    const isPlain = one.mark === 'went-on' && x(to) - x(from) < markRoom;
    if (isPlain || at - last < markRoom) return null;
    last = at;
    return <MarkShape mark={one.mark} x={at} y={y(turn.lane) + laneHeight / 2} />;
  });
}

type ChosenProps = { readonly span: Placed | undefined; readonly height: number; readonly x: Scale['x'] };

function ChosenSpan({ span, height, x }: ChosenProps) {
  if (span === undefined) return null;
  const width = Math.max(3, x(span.to) - x(span.from) + 2);
  return <rect x={x(span.from) - 1} y={top - 3} width={width} height={height} rx={4} class="span-chosen" />;
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];

/** As many round moments as have room for their names. */
function ticks(total: number, width: number): number[] {
  const wanted = Math.max(2, Math.floor((width - left) / 110));
  const step = (steps.find((seconds) => total / (seconds * 1000) <= wanted) ?? 86_400) * 1000;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, index) => index * step);
}
