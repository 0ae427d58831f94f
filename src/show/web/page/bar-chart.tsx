import { pointerX, useWidth } from './parts.tsx';
import { ticksTo } from './ticks.ts';
import { Tooltip, useTooltip } from './tooltip.tsx';
import type { Group } from './trend-figures.ts';

export type ChartProps = {
  readonly title: string;
  /** Says more than the title, for a screen reader. */
  readonly label?: string;
  readonly groups: readonly Group[];
  readonly value: (group: Group) => number | null;
  readonly format: (value: number) => string;
  /** The top of the axis; the largest value if it is missing. */
  readonly max?: number;
  readonly ticks?: (max: number) => number[];
  readonly looks: string;
};

const height = 170;
const bottom = 24;
const left = 54;

/** One bar for each group, with an axis; the pointer tells the exact value. */
export function BarChart(props: ChartProps) {
  const { title, label = title, groups, value, format, max, ticks: ticksFor = ticksTo, looks } = props;
  const [box, room] = useWidth();
  const { tip, show, hide } = useTooltip();
  const width = Math.max(200, room);
  const ticks = ticksFor(max ?? Math.max(0, ...groups.map((group) => value(group) ?? 0)));
  const top = ticks.at(-1) ?? 1;
  const step = (width - left) / Math.max(1, groups.length);
  const size = Math.min(48, step * 0.62);
  const y = (amount: number) => 8 + (1 - amount / top) * (height - bottom - 8);
  const drawBar = (group: Group, x: number) => {
    const amount = value(group);
    if (amount === null) return null;
    const box = { x, y: y(amount), width: size, height: Math.max(1, y(0) - y(amount)), rx: 2 };
    return <rect {...box} class={`bar ${looks}`} data-amount={amount} />;
  };
  const nameStep = Math.ceil(84 / step);
  const text = groups.map((group) => `${group.name}: ${formatted(value(group), format)}`);
  return (
    <div class="chart-box" ref={box}>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${label}. ${text.join('; ')}`}
        onMouseMove={(event) => show(event, text[Math.floor((pointerX(event) - left) / step)] ?? '')}
        onMouseLeave={hide}
      >
        {ticks.map((tick) => (
          <>
            <line x1={left} x2={width} y1={y(tick)} y2={y(tick)} class={tick === 0 ? 'base' : 'grid-line'} />
            <text x={left - 8} y={y(tick) + 4} class="tick last">
              {tick === 0 ? 0 : format(tick)}
            </text>
          </>
        ))}
        {groups.map((group, index) => (
          <g class="hit">
            <rect x={left + index * step} y={0} width={step} height={height} class="hit-area" />
            {drawBar(group, left + index * step + (step - size) / 2)}
            {index % nameStep === 0 && (
              <text x={left + (index + 0.5) * step} y={height - 6} class="tick">
                {shortName(group.name)}
              </text>
            )}
          </g>
        ))}
      </svg>
      <Tooltip tip={tip} />
    </div>
  );
}

function formatted(amount: number | null, format: (value: number) => string): string {
  return amount === null ? 'not known' : format(amount);
}

/** A day without its year. */
function shortName(name: string): string {
  const [, month, day] = /^\d{4}-(\d\d)-(\d\d)$/.exec(name) ?? [];
  return month === undefined ? name.slice(0, 16) : `${month}-${day}`;
}
