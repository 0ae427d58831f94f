import type { ComponentChildren } from 'preact';
import { plural } from '../../../core/text.ts';
import { totalTokens } from '../../../core/turn.ts';
import { type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost, formatTokens } from '../../terminal/units.ts';
import { duration, percent } from './format.ts';
import { CheckCell, CommitSign, MarkShape } from './marks.tsx';
import { timeTicks } from './ticks.ts';

export type Row = {
  readonly name: string;
  readonly note: string;
  readonly height: number;
  /** The amount that fills the height. As long as it stays, so does what is drawn. */
  readonly max: number;
  /** The amount at which a bar fills the height, where bars have a scale of their own. */
  readonly barMax?: number;
  /** Formats an amount of the axis; a row without it has none. */
  readonly format?: (amount: number) => string;
  /** Makes the amounts that the axis names; round ones if it is missing. */
  readonly ticks?: (max: number, wanted: number) => number[];
  readonly legend?: readonly (readonly [looks: string, name: string])[];
  /** The bars of an iteration, the first one at the bottom. */
  readonly bars?: (one: IterationView) => readonly (readonly [looks: string, amount: number])[];
  /** Room above the bars. */
  readonly headroom?: number;
  /** A sign of an iteration that is no bar. */
  readonly sign?: (one: IterationView, top: number, width: number) => ComponentChildren;
  /** Amounts that are marked by a line across. */
  readonly lines?: readonly { readonly amount: number; readonly looks: string }[];
  /** The amounts of a curve over all iterations. */
  readonly curve?: readonly number[];
};

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

function unknownRow(name: string, note: string): Row {
  return { name, note, height: 16, max: 1 };
}

const outcomeRow: Row = {
  name: 'Outcome',
  note: '',
  height: 18,
  max: 1,
  sign: ({ mark }, top, width) => (
    <MarkShape mark={mark} x={width / 2} y={top + 9} scale={width < 15 ? 0.8 : 1} />
  ),
};

const timeKinds = ['agent', 'review', 'checks', 'waiting'] as const;

function timeRow({ iterations }: RunView, now: number): Row {
  const times = iterations.map((one) => timeByKind(one, now));
  const sums = times.map(({ agent, review, checks, waiting }) => agent + review + checks + waiting);
  const longest = Math.max(1, ...sums);
  const used = timeKinds.filter((kind) => kind === 'agent' || times.some((time) => time[kind] > 0));
  return {
    name: 'Time',
    note: `up to ${duration(longest)}`,
    height: 64,
    max: roomy(longest),
    format: duration,
    ticks: timeTicks,
    legend: used.map((kind) => [kind, kind]),
    bars: ({ index }) => timeKinds.map((kind) => [kind, times[index]?.[kind] ?? 0]),
  };
}

const tokenKinds = [
  ['input', 'inputTokens', 'in'],
  ['cache-write', 'cacheWriteTokens', 'cache write'],
  ['cache-read', 'cacheReadTokens', 'cache read'],
  ['output', 'outputTokens', 'out'],
] as const;

function tokenRow({ iterations }: RunView): Row {
  const max = Math.max(0, ...iterations.map(({ usage }) => (usage ? totalTokens(usage) : 0)));
  if (max === 0) return unknownRow('Tokens', 'not reported');
  return {
    name: 'Tokens',
    note: `up to ${formatTokens(max)}`,
    height: 64,
    max,
    format: formatTokens,
    legend: tokenKinds.map(([looks, , name]) => [looks, name]),
    bars: ({ usage }) => tokenKinds.map(([looks, key]) => [looks, usage?.[key] ?? 0]),
  };
}

const costLegend = [
  ['cost', 'iteration'],
  ['sum', 'total'],
] as const;

/** The cost of each iteration as a bar on a scale of its own, the sum as a line, the budget as the line not to cross. */
function costRow({ iterations, limits, usage }: RunView): Row {
  const own = iterations.map((one) => one.usage?.costUsd ?? 0);
  let running = 0;
  const curve = own.map((cost) => (running += cost));
  const budget = limits?.costUsd ?? 0;
  const told = usage.estimated ? 'estimated' : 'reported';
  const total = usage.costUsd === undefined ? 'not reported' : `${formatCost(running)} ${told}`;
  return {
    name: 'Cost',
    note: budget === 0 ? total : `${total}, budget ${formatCost(budget)}`,
    height: usage.costUsd === undefined ? 16 : 64,
    max: Math.max(1e-9, running > budget ? roomy(running) : budget),
    barMax: Math.max(1e-9, ...own),
    ...(running === 0 ? {} : { format: formatCost }),
    legend: running === 0 ? [] : costLegend,
    lines: budget === 0 ? [] : [{ amount: budget, looks: 'budget' }],
    curve: running === 0 ? [] : curve,
    bars: ({ index }) => [['cost', own[index] ?? 0]],
  };
}

const thresholds = [0.5, 0.6, 0.7, 0.8, 0.9];

/** Against the window where its size is known; a guess would be worse than none. */
function contextRow({ iterations }: RunView): Row {
  const window = iterations.findLast(({ context }) => context?.window)?.context?.window ?? null;
  const most = Math.max(0, ...iterations.map(({ context }) => context?.tokens ?? 0));
  if (most === 0) return unknownRow('Context', 'not reported');
  const level = (tokens: number) => {
    if (window === null) return 'plain';
    return tokens >= window * 0.9 ? 'high' : tokens >= window * 0.7 ? 'middle' : 'low';
  };
  return {
    name: 'Context',
    note:
      window === null
        ? `up to ${formatTokens(most)}, window unknown`
        : `up to ${percent(most / window)} of ${formatTokens(window)}`,
    height: 56,
    max: window ?? most,
    format: (tokens) => (window === null ? formatTokens(tokens) : percent(tokens / window)),
    legend: window === null ? [] : [['threshold-key', 'lines at 50 to 90 %']],
    lines: window === null ? [] : thresholds.map((share) => ({ amount: share * window, looks: 'threshold' })),
    bars: ({ context }) => (context ? [[`context ${level(context.tokens)}`, context.tokens]] : []),
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
      max: 1,
      sign: ({ guardrails }, top, width) => {
        const check = guardrails.findLast((other) => other.command === command);
        return check && <CheckCell ok={check.ok} command={command} top={top} width={width} />;
      },
    };
  });
}

const changeLegend = [
  ['files', 'files'],
  ['commit', 'commit'],
] as const;

function changeRow({ iterations, source }: RunView): Row {
  if (source === 'timeline') return unknownRow('Changes', 'not known');
  const commits = iterations.reduce((sum, one) => sum + one.commits, 0);
  const most = Math.max(0, ...iterations.map(({ filesChanged }) => filesChanged));
  return {
    name: 'Changes',
    note: `${plural(commits, 'commit')}, up to ${plural(most, 'file')}`,
    height: 40,
    headroom: 12,
    max: Math.max(1, most),
    format: String,
    legend: changeLegend,
    bars: ({ filesChanged }) => [['files', filesChanged]],
    sign: (one, top, width) => one.commits > 0 && <CommitSign count={one.commits} top={top} width={width} />,
  };
}

/** A little more, in steps: what still grows would otherwise change the size of everything each second. */
function roomy(amount: number): number {
  return 2 ** (Math.ceil(Math.log2(amount) * 4) / 4);
}
