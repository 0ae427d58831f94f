import { shown } from './marks.ts';
import type { Step } from './model.ts';

/** The beginning of a command, for people. Most commands are never shown to anybody. */
export function stepText(step: Step): string {
  step.text ??= shown(step.words.slice(0, 40).join(' ')).slice(0, 200);
  return step.text;
}
