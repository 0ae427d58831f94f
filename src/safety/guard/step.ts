import { shown } from './marks.ts';
import type { Step } from './model.ts';

const known = new WeakMap<Step, string>();

/** The beginning of a command, for people. Most commands are never shown to anybody. */
export function stepText(step: Step): string {
  const text = known.get(step) ?? shown(step.words.slice(0, 40).join(' ')).slice(0, 200);
  known.set(step, text);
  return text;
}
