import type { MentionForm } from './claim-form.ts';
import type { Claim } from './completion.ts';
import type { Feedback, Verdict } from './loop.ts';

export type GuardrailFailure = {
  readonly command: string;
  readonly exitCode: number | string;
  readonly hint?: string;
  readonly logFile: string;
  readonly output: string;
};

/** The message that people match on: its format is fixed. `output` is truncated here, the hint never. */
export function guardrailMessage(failure: GuardrailFailure, maxChars: number): string {
  return [
    `Guardrail "${failure.command}" failed with exit code ${failure.exitCode}.`,
    ...(failure.hint ? [`Hint: ${failure.hint}`] : []),
    `Output file: ${failure.logFile}`,
    'Output (truncated):',
    truncate(failure.output, maxChars),
  ].join('\n');
}

/** Keeps the first `max` characters (never half of one) and says so when something was cut. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = /[\uD800-\uDBFF]/.test(text[max - 1] ?? '') ? max - 1 : max;
  return `${text.slice(0, end)}... [truncated]`;
}

/** `./mvnw clean install -T 2C` becomes `mvnw_clean_install_T_2C`. */
export function slugOf(command: string): string {
  const slug = command.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+/, '');
  return slug.slice(0, 50).replace(/_+$/, '') || 'guardrail';
}

/** Completion tags in foreign output would be echoed back as claims: take their power, keep them readable. */
export function defuseTags(text: string): string {
  return text.replace(/<(\/?)(promise|response)>/gi, '<$1$2\u200B>');
}

/** What the agent is told when its claim was turned down. */
export function rejectionFeedback(verdict: Verdict, marker: string): Feedback {
  const failed = verdict.evidence.find((item) => !item.ok);
  if (failed?.check === 'tool-calls' || failed?.check === 'work') {
    return append(
      `Promise detected, but no tool calls/work were performed; you must actually complete the task before emitting the promise.\n(${failed.detail})`,
    );
  }
  return append(
    `Your claim ${marker} was rejected: ${verdict.because}.\nMend this first, then put the tag alone on the last line of your answer again.`,
  );
}

/** What is said of a tag that was only mentioned, by its form. */
const MENTIONS: Record<Exclude<MentionForm, 'near-miss'>, string> = {
  sentence: 'You mentioned the completion tag in a sentence',
  quoted: 'You quoted the completion tag in a sentence',
  checkbox: 'You put the completion tag behind an open checkbox',
  struck: 'You struck the completion tag out',
  comment: 'You put the completion tag into a comment',
  table: 'You put the completion tag into a table',
  question: 'You wrote a question mark behind the completion tag',
  announced: 'You announced the completion tag and wrote more behind it',
  'list-item': 'You made the completion tag a list item and wrote more behind it',
  code: 'You put the completion tag into a code block with other lines',
};

/** Answers a mention: the form that was seen, and how to claim. */
export function mentionFeedback({ form, marker, written }: Extract<Claim, { kind: 'mention' }>): Feedback {
  const seen =
    form === 'near-miss'
      ? `You wrote ${JSON.stringify(written)}, which differs from the completion tag in case or white space.`
      : `${MENTIONS[form]}, which does not count as a claim.`;
  return append(
    `${seen} If the task is fully done, put the tag alone on a line, the last of your answer, exactly so: ${marker}`,
  );
}

function append(text: string): Feedback {
  return { action: 'APPEND', text };
}
