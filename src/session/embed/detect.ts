import { readClaim } from '../../core/completion.ts';
import type { PromiseMatch } from '../../core/loop.ts';
import { fillTemplate } from '../../core/template.ts';
import type { RalphLoopState } from '../../store/embedded-loop.ts';
import { type HostMessages, isFromAssistant, readMessages } from './messages.ts';

/** Whether the text claims the promise: in any case and with spaces inside the tag, unless `match` says otherwise. */
export function detectCompletionPromise(
  text: string,
  promise: string,
  match: PromiseMatch = 'lenient',
): boolean {
  return readClaim([text], { promise: { token: promise, match } }).kind === 'done';
}

/** Whether any message of the assistant claims the promise. */
export async function detectInMessages(
  messages: HostMessages,
  promise: string,
  match: PromiseMatch = 'lenient',
): Promise<boolean> {
  return readMessages(messages)
    .filter(isFromAssistant)
    .some(({ text }) => detectCompletionPromise(text.join('\n'), promise, match));
}

/** Fills the template in one pass: what the task holds (`$&`, `{{PROMISE}}`) stays as it is. */
export function buildContinuationPrompt(template: string, state: RalphLoopState): string {
  return fillTemplate(template, {
    ITERATION: state.iteration,
    MAX: state.maxIterations,
    PROMISE: state.completionPromise,
    PROMPT: state.prompt,
  });
}
