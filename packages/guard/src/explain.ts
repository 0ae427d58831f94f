import { describeEffect, judgeEffect } from './classify.ts';
import type { Judgement } from './judge.ts';
import { shown } from './marks.ts';
import type { Effect, GuardContext, Step } from './model.ts';

/** What a command would run, as a tree, with the effects of each step and what the guard says to them. */
export function explain(
  { steps, effects, verdict, category, reason }: Judgement,
  context: GuardContext,
): string {
  const lines = steps.flatMap((step) => [
    `${'  '.repeat(step.depth)}${stepText(step).replaceAll('\n', '\\n')}`,
    ...step.effects.map((effect) => `${'  '.repeat(step.depth + 1)}- ${judged(effect, context)}`),
  ]);
  const inSteps = new Set(steps.flatMap((step) => step.effects));
  const others = effects
    .filter((effect) => !inSteps.has(effect))
    .map((effect) => `- ${judged(effect, context)}`);
  const end = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  return `${[...lines, ...others, end].join('\n')}\n`;
}

function judged(effect: Effect, context: GuardContext): string {
  return `${describeEffect(effect)}: ${judgeEffect(effect, context).verdict}`;
}

function stepText({ words }: Step): string {
  return shown(words.slice(0, 40).join(' ')).slice(0, 200);
}
