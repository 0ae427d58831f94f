import { judgeEffect } from './classify.ts';
import type { Judgement } from './judge.ts';
import { shown } from './marks.ts';
import type { Effect, GuardContext } from './model.ts';
import { stepText } from './step.ts';

/** What a command would run, as a tree, with the effects of each step and what the guard says to them. */
export function explain(
  { steps, effects, verdict, category, reason }: Judgement,
  context: GuardContext,
): string {
  const lines = steps.flatMap((step) => [
    `${'  '.repeat(step.depth)}${stepText(step).replaceAll('\n', '\\n')}`,
    ...step.effects.map((effect) => `${'  '.repeat(step.depth + 1)}- ${describeEffect(effect, context)}`),
  ]);
  const inSteps = new Set(steps.flatMap((step) => step.effects));
  const others = effects
    .filter((effect) => !inSteps.has(effect))
    .map((effect) => `- ${describeEffect(effect, context)}`);
  const end = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  return `${[...lines, ...others, end].join('\n')}\n`;
}

function describeEffect(effect: Effect, context: GuardContext): string {
  const { verdict } = judgeEffect(effect, context);
  const what =
    effect.kind === 'act'
      ? effect.what
      : `${effect.kind}s ${shown(effect.path)}${effect.recursive ? ' and all below' : ''}`;
  return `${what}: ${verdict}`;
}
