import { parseRecord } from '../../agents/json.ts';
import { readClaim } from '../../core/completion.ts';
import type { LoopState, PromiseMatch } from '../../core/loop.ts';
import { composePrompt } from '../../core/prompt.ts';
import { fillTemplate } from '../../core/template.ts';
import { readText } from '../../os/files/files.ts';
import { CONTINUATION_PROMPT_TEMPLATE } from './constants.ts';
import type { RalphLoopState } from './embedded-loop.ts';
import { type HostMessages, isFromAssistant, type Message, readMessages } from './host-messages.ts';

/** True if the text has a claim: in any case and with spaces inside the marker, unless `match` says otherwise. */
export function detectCompletionPromise(
  text: string,
  promise: string,
  match: PromiseMatch = 'lenient',
): boolean {
  return readClaim([text], { promise: { token: promise, match } }).kind === 'done';
}

/** True if a message of the assistant has a claim. */
export async function detectInMessages(
  messages: HostMessages,
  promise: string,
  match: PromiseMatch = 'lenient',
): Promise<boolean> {
  return hasClaim(readMessages(messages), promise, match);
}

/**
 * True if a transcript has a claim: where its lines are messages as JSON, in one of the assistant, else anywhere. False if
 * it cannot be read.
 */
export function detectInTranscript(
  transcriptPath: string | undefined,
  promise: string,
  match: PromiseMatch = 'lenient',
): boolean {
  try {
    const text = (transcriptPath && readText(transcriptPath)) || '';
    const entries = text.split('\n').map((line) => parseRecord(line) ?? {});
    const messages = readMessages(entries.map((entry) => entry.message ?? entry));
    if (messages.every(({ role }) => role === '')) return detectCompletionPromise(text, promise, match);
    return hasClaim(messages, promise, match);
  } catch {
    return false;
  }
}

function hasClaim(messages: readonly Message[], promise: string, match: PromiseMatch): boolean {
  return messages
    .filter(isFromAssistant)
    .some(({ text }) => detectCompletionPromise(text.join('\n'), promise, match));
}

/** Fills the template in one pass, so that `$&` or `{{PROMISE}}` in the task stay as they are. */
export function buildContinuationPrompt(template: string, state: RalphLoopState): string {
  return fillTemplate(template, {
    ITERATION: state.iteration,
    MAX: state.maxIterations,
    PROMISE: state.completionPromise,
    PROMPT: state.prompt,
  });
}

/** Builds the prompt of the next iteration: an instruction, the template around the task, and feedback on the last turn. */
export function continuationOf(loop: LoopState, instruction?: string): string {
  const { completion, limits } = loop.plan;
  const task = fillTemplate(CONTINUATION_PROMPT_TEMPLATE, {
    ITERATION: loop.iteration,
    MAX: limits.iterations ?? '∞',
    PROMISE: completion.promise?.token ?? '',
    PROMPT: loop.task,
  });
  const prompt = composePrompt({ ...loop, task });
  return instruction === undefined ? prompt : `${instruction}\n\n${prompt}`;
}
