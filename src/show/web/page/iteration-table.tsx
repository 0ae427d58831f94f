import type { ComponentChildren } from 'preact';
import { type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost } from '../../terminal/units.ts';
import { duration, markNames, percent, tokens } from './format.ts';
import { SmallButton, Table } from './parts.tsx';
import { select } from './state.ts';

type TableProps = { readonly view: RunView; readonly at: number };

const heads = ['Iteration', 'Outcome', 'Time', 'Tokens', 'Cost', 'Context', 'Guardrails', 'Commits', 'Files'];

/** The charts as numbers, for a screen reader and for those who want the exact figure. */
export function IterationTable({ view, at }: TableProps) {
  const rows = view.iterations.map((one) => cellsOf(one, at));
  return <Table label="Figures of each iteration" looks="grid iteration-table" heads={heads} rows={rows} />;
}

function cellsOf(one: IterationView, at: number): ComponentChildren[] {
  const { agent, review, checks, waiting } = timeByKind(one, at);
  const { usage, context, guardrails, commits, filesChanged } = one;
  const passed = guardrails.filter(({ ok }) => ok).length;
  return [
    <SmallButton text={one.iteration} onClick={() => select(one.index)} />,
    markNames[one.mark],
    duration(agent + review + checks + waiting),
    usage === null ? '–' : tokens(usage),
    usage?.costUsd === undefined ? '–' : formatCost(usage.costUsd),
    context?.window ? percent(context.tokens / context.window) : '–',
    guardrails.length === 0 ? '–' : `${passed} of ${guardrails.length}`,
    commits,
    filesChanged,
  ];
}
