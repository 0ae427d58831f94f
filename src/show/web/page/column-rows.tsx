import type { ComponentChildren } from 'preact';
import { totalTokens } from '../../../core/turn.ts';
import { type CheckView, type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import { duration, percent, plural } from './format.ts';
import { MarkShape } from './marks.tsx';

/** One view over all iterations. */
export type Row = {
  readonly name: string;
  readonly note: string;
  readonly height: number;
  /** What all columns are drawn by: as long as it stays, so does what is drawn. */
  readonly scale: number;
  readonly legend?: readonly (readonly [className: string, name: string])[];
  /** Behind all columns: lines across. */
  readonly behind?: (top: number, width: number) => ComponentChildren;
  /** Over all columns: words at the left edge of what is in view. */
  readonly inFront?: (top: number) => ComponentChildren;
  readonly draw: (one: IterationView, top: number, width: number) => ComponentChildren;
};

/** Of which nothing is known. */
const lowRow = 16;

/** What is drawn for each iteration, one row below the other. */
export function rowsOf(view: RunView, now: number): Row[] {
  return [
    outcomeRow,
    timeRow(view, now),
    tokenRow(view),
    costRow(view),
    contextRow(view),
    ...guardrailRows(view),
    changeRow(view),
  ];
}

const outcomeRow: Row = {
  name: 'Outcome',
  note: '',
  height: 18,
  scale: 1,
  draw: ({ mark }, top, width) => (
    <MarkShape mark={mark} x={width / 2} y={top + 9} scale={width < 15 ? 0.8 : 1} />
  ),
};

function timeRow({ iterations }: RunView, now: number): Row {
  const times = iterations.map((one) => timeByKind(one, now));
  const sums = times.map(({ agent, review, checks, waiting }) => agent + review + checks + waiting);
  const longest = Math.max(1, ...sums);
  const max = roomy(longest);
  const height = 64;
  const kinds = ['agent', 'review', 'checks', 'waiting'] as const;
  const used = kinds.filter((kind) => kind === 'agent' || times.some((time) => time[kind] > 0));
  return {
    name: 'Time',
    note: `up to ${duration(longest)}`,
    height,
    scale: max,
    legend: used.map((kind) => [kind, kind]),
    draw: ({ index }, top, width) => {
      const parts = kinds.map((kind) => [kind, times[index]?.[kind] ?? 0] as const);
      return bars(parts, { max, top, height, width });
    },
  };
}

const tokenKinds = [
  ['input', 'inputTokens', 'in'],
  ['cache-write', 'cacheWriteTokens', 'cache write'],
  ['cache-read', 'cacheReadTokens', 'cache read'],
  ['output', 'outputTokens', 'out'],
] as const;

function tokenRow({ iterations }: RunView): Row {
  const max = Math.max(1, ...iterations.map(({ usage }) => (usage ? totalTokens(usage) : 0)));
  const height = max === 1 ? lowRow : 64;
  return {
    name: 'Tokens',
    note: max === 1 ? 'not reported' : `up to ${formatTokens(max)}`,
    height,
    scale: max,
    legend: max === 1 ? [] : tokenKinds.map(([className, , name]) => [className, name]),
    draw: ({ usage }, top, width) => {
      const parts = tokenKinds.map(([className, key]) => [className, usage?.[key] ?? 0] as const);
      return bars(parts, { max, top, height, width });
    },
  };
}

/** The cost of each iteration as a bar, the sum as a line, the budget as the line that it must not cross. */
function costRow({ iterations, limits, usage }: RunView): Row {
  const height = usage.costUsd === undefined ? lowRow : 64;
  const own = iterations.map((one) => one.usage?.costUsd ?? 0);
  let running = 0;
  const sums = own.map((cost) => (running += cost));
  const budget = limits?.costUsd ?? null;
  const max = Math.max(1e-9, budget ?? 0, running > (budget ?? 0) ? roomy(running) : 0);
  const told = usage.estimated ? 'estimated' : 'reported';
  const total = usage.costUsd === undefined ? 'not reported' : `${formatCost(running)} ${told}`;
  const y = (value: number, top: number) => top + height - (value / max) * height;
  return {
    name: 'Cost',
    note: budget === null ? total : `${total}, budget ${formatCost(budget)}`,
    height,
    scale: max,
    legend:
      running === 0
        ? []
        : [
            ['cost', 'iteration'],
            ['sum', 'total'],
          ],
    behind: (top, width) => {
      const points = sums.map((sum, index) => `${index * width + width / 2} ${y(sum, top).toFixed(1)}`);
      return (
        <>
          {budget !== null && across(y(budget, top), 'budget')}
          {running > 0 && <path d={`M${points.join('L')}`} class="sum-line" />}
        </>
      );
    },
    draw: ({ index }, top, width) => (
      <>
        {bars([['cost', own[index] ?? 0]], { max, top, height, width })}
        {running > 0 && <circle cx={width / 2} cy={y(sums[index] ?? 0, top)} r={2} class="sum" />}
      </>
    ),
  };
}

const thresholds = [0.5, 0.6, 0.7, 0.8, 0.9];
/** There is no room for the names of all. */
const namedThresholds = [0.5, 0.7, 0.9];

/** Against the window where its size is known; a guess would be worse than none. */
function contextRow({ iterations }: RunView): Row {
  const window = iterations.findLast(({ context }) => context?.window)?.context?.window ?? null;
  const most = Math.max(0, ...iterations.map(({ context }) => context?.tokens ?? 0));
  const max = Math.max(1, window ?? most);
  const height = most === 0 ? lowRow : 56;
  const size =
    window === null
      ? `${formatTokens(most)}, window unknown`
      : `${percent(most / window)} of ${formatTokens(window)}`;
  const y = (share: number, top: number) => top + height * (1 - share);
  return {
    name: 'Context',
    note: most === 0 ? 'not reported' : `up to ${size}`,
    height,
    scale: max,
    behind: (top) =>
      window !== null &&
      thresholds.map((share) => across(y(share, top), share === 0.9 ? 'threshold last' : 'threshold')),
    inFront: (top) =>
      window !== null &&
      namedThresholds.map((share) => (
        <text x={2} y={y(share, top) + 3} class="threshold-name">
          {percent(share)}
        </text>
      )),
    draw: ({ context }, top, width) => {
      if (context === null) return null;
      const share = context.tokens / max;
      const level = window === null ? 'plain' : share >= 0.9 ? 'high' : share >= 0.7 ? 'middle' : 'low';
      return bars([[`context ${level}`, context.tokens]], { max, top, height, width });
    },
  };
}

/** A row for each guardrail; a cell opens its log. */
function guardrailRows({ iterations }: RunView): Row[] {
  const all = iterations.flatMap(({ guardrails }) => guardrails);
  return [...new Set(all.map(({ command }) => command))].map((command) => {
    const own = all.filter((check) => check.command === command);
    return {
      name: command,
      note: `${own.filter(({ ok }) => ok !== false).length}/${own.length} passed`,
      height: 18,
      scale: 1,
      draw: ({ guardrails }, top, width) => {
        const check = guardrails.findLast((other) => other.command === command);
        return check && <CheckCell check={check} top={top} width={width} />;
      },
    };
  });
}

type CheckCellProps = { readonly check: CheckView; readonly top: number; readonly width: number };

function CheckCell({ check: { ok, command }, top, width }: CheckCellProps) {
  const size = Math.min(18, width - 3);
  const state = ok === null ? 'running' : ok ? 'pass' : 'fail';
  const sign = ok ? 'M-4.5 .3L-1.5 3.3L4.5 -3' : 'M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5';
  const box = { x: (width - size) / 2, y: top + (18 - size) / 2, width: size, height: size, rx: 3 };
  const middle = `translate(${width / 2} ${top + 9}) scale(${size / 18})`;
  return (
    <>
      <rect {...box} class={`cell ${state}`} data-check={command} />
      {ok !== null && <path d={sign} class="sign" transform={middle} />}
    </>
  );
}

function changeRow({ iterations, source }: RunView): Row {
  const isKnown = source === 'journal';
  const height = isKnown ? 40 : lowRow;
  const max = Math.max(1, ...iterations.map(({ filesChanged }) => filesChanged));
  const commits = iterations.reduce((sum, one) => sum + one.commits, 0);
  const files = iterations.reduce((sum, one) => sum + one.filesChanged, 0);
  return {
    name: 'Changes',
    note: isKnown ? `${plural(commits, 'commit')}, ${plural(files, 'file')} changed` : 'not known',
    height,
    scale: max,
    legend: isKnown
      ? [
          ['files', 'files'],
          ['commit', 'commit'],
        ]
      : [],
    draw: (one, top, width) =>
      isKnown && (
        <>
          {bars([['files', one.filesChanged]], { max, top: top + 12, height: height - 12, width })}
          {one.commits > 0 && <Commits count={one.commits} top={top} width={width} />}
        </>
      ),
  };
}

function Commits({ count, top, width }: Readonly<Record<'count' | 'top' | 'width', number>>) {
  const turned = `rotate(45 ${width / 2} ${top + 4})`;
  return (
    <>
      <rect x={width / 2 - 4} y={top} width={8} height={8} class="commit" transform={turned} />
      {count > 1 && width > 26 && (
        <text x={width / 2 + 9} y={top + 8} class="small">
          {count}
        </text>
      )}
    </>
  );
}

/** A little more, in steps: what still grows would otherwise change the size of everything each second. */
function roomy(amount: number): number {
  return 2 ** (Math.ceil(Math.log2(amount) * 4) / 4);
}

/** A line over all columns, and on to the edge where these are few. */
function across(y: number, looks: string) {
  return <line x1={0} x2="100%" y1={y} y2={y} class={looks} />;
}

/** Parts on top of each other, the first one at the bottom. */
function bars(
  parts: readonly (readonly [className: string, amount: number])[],
  { max, top, height, width }: Readonly<Record<'max' | 'top' | 'height' | 'width', number>>,
) {
  const bar = Math.max(4, Math.min(34, width - Math.max(3, width * 0.3)));
  const x = (width - bar) / 2;
  let y = top + height;
  return parts
    .filter(([, amount]) => amount > 0)
    .map(([className, amount]) => {
      const size = Math.max(1, (amount / max) * height);
      y -= size;
      return <rect x={x} y={y} width={bar} height={size} class={`bar ${className}`} data-amount={amount} />;
    });
}
