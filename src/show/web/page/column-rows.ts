import { totalTokens } from '../../../core/turn.ts';
import { type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import { label, svg } from './dom.ts';
import { duration, plural } from './format.ts';
import { markShape } from './marks.ts';

/** One view over all iterations. */
export type Row = {
  readonly name: string;
  readonly note: string;
  readonly height: number;
  /** What all columns are drawn by: as long as it stays, so does what is drawn. */
  readonly scale: number;
  readonly legend?: readonly (readonly [className: string, name: string])[];
  /** Behind all columns: lines across. */
  readonly behind?: (g: SVGGElement, top: number, width: number) => void;
  /** Over all columns: words at the left edge of what is in view. */
  readonly inFront?: (g: SVGGElement, top: number) => void;
  readonly draw: (g: SVGGElement, one: IterationView, top: number, width: number) => void;
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
  draw: (g, one, top, width) => {
    g.append(markShape(one.mark, width / 2, top + 9, width < 15 ? 0.8 : 1));
  },
};

function timeRow({ iterations }: RunView, now: number): Row {
  const parts = iterations.map((one) => timeByKind(one, now));
  const sums = parts.map(({ agent, review, checks, waiting }) => agent + review + checks + waiting);
  const longest = Math.max(1, ...sums);
  const max = roomy(longest);
  const height = 64;
  const kinds = ['agent', 'review', 'checks', 'waiting'] as const;
  const shown = kinds.filter((kind) => kind === 'agent' || parts.some((part) => part[kind] > 0));
  return {
    name: 'Time',
    note: `up to ${duration(longest)}`,
    height,
    scale: max,
    legend: shown.map((kind) => [kind, kind]),
    draw: (g, one, top, width) => {
      const part = parts[one.index];
      const bars = kinds.map((kind) => [kind, part?.[kind] ?? 0] as const);
      stack(g, bars, { max, top, height, width });
    },
  };
}

function tokenRow({ iterations }: RunView): Row {
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
    scale: max,
    legend: max === 1 ? [] : kinds.map(([className, , name]) => [className, name]),
    draw: (g, { usage }, top, width) => {
      const bars = kinds.map(([className, key]) => [className, usage?.[key] ?? 0] as const);
      stack(g, bars, { max, top, height, width });
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
    behind: (g, top, width) => {
      const y = (value: number) => top + height - (value / max) * height;
      if (budget !== null) g.append(across(y(budget), iterations.length * width, 'budget'));
      if (running === 0) return;
      const points = sums.map((sum, index) => `${index * width + width / 2} ${y(sum).toFixed(1)}`);
      g.append(svg('path', { d: `M${points.join('L')}`, class: 'sum-line' }));
    },
    draw: (g, one, top, width) => {
      stack(g, [['cost', own[one.index] ?? 0]], { max, top, height, width });
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
/** There is no room for the names of all. */
const namedThresholds = [0.5, 0.7, 0.9];

/** Against the window where its size is known; a guess would be worse than none. */
function contextRow({ iterations }: RunView): Row {
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
    scale: max,
    behind: (g, top, width) => {
      if (window === null) return;
      for (const share of thresholds) {
        const looks = share === 0.9 ? 'threshold last' : 'threshold';
        g.append(across(top + height * (1 - share), iterations.length * width, looks));
      }
    },
    inFront: (g, top) => {
      if (window === null) return;
      for (const share of namedThresholds)
        g.append(label(2, top + height * (1 - share) + 3, `${share * 100} %`, 'threshold-name'));
    },
    draw: (g, { context }, top, width) => {
      if (context === null) return;
      const share = context.tokens / max;
      const level = window === null ? 'plain' : share >= 0.9 ? 'high' : share >= 0.7 ? 'middle' : 'low';
      stack(g, [[`context ${level}`, context.tokens]], { max, top, height, width });
    },
  };
}

/** A row for each guardrail; a cell opens its log. */
function guardrailRows({ iterations }: RunView): Row[] {
  const commands = new Set(iterations.flatMap(({ guardrails }) => guardrails.map(({ command }) => command)));
  return [...commands].map((command) => {
    const results = iterations.flatMap(({ guardrails }) =>
      guardrails.filter((check) => check.command === command),
    );
    const failed = results.filter(({ ok }) => ok === false).length;
    return {
      name: command,
      note: `${results.length - failed}/${results.length} passed`,
      height: 18,
      scale: 1,
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
    draw: (g, one, top, width) => {
      if (!isKnown) return;
      stack(g, [['files', one.filesChanged]], { max, top: top + 12, height: height - 12, width });
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

/** A little more, in steps: what still grows would otherwise change the size of everything each second. */
function roomy(amount: number): number {
  return 2 ** (Math.ceil(Math.log2(amount) * 4) / 4);
}

/** A line over all columns, and on to the edge where these are few. */
function across(y: number, width: number, looks: string): SVGLineElement {
  return svg('line', { x1: 0, x2: Math.max(2000, width), y1: y, y2: y, class: looks });
}

/** Parts on top of each other, the first one at the bottom. */
function stack(
  g: SVGGElement,
  parts: readonly (readonly [className: string, amount: number])[],
  { max, top, height, width }: Record<'max' | 'top' | 'height' | 'width', number>,
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
