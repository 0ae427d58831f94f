import { plural } from '../../../core/text.ts';
import { type IterationView, type RunView, timeByKind } from '../../../journal/run-view.ts';
import { formatCost } from '../../terminal/units.ts';
import { duration, markNames, percent, tokens } from './format.ts';

/** An iteration in a few words, a line for each. */
export function describeIteration(one: IterationView | undefined, { source }: RunView, at: number): string {
  if (one === undefined) return '';
  const { agent, review, checks, waiting } = timeByKind(one, at);
  const parts = [
    `Iteration ${one.iteration}: ${markNames[one.mark]}`,
    duration(agent + review + checks + waiting),
    one.usage && `${tokens(one.usage)} tokens`,
    one.usage?.costUsd !== undefined && formatCost(one.usage.costUsd),
    one.context?.window && `context ${percent(one.context.tokens / one.context.window)}`,
    one.prd && `${one.prd.mode} ${one.prd.story ?? ''}`,
    source === 'journal' && plural(one.commits, 'commit'),
  ];
  return parts.filter(Boolean).join('\n');
}
