import type { MentionForm } from './claim-form.ts';
import { type Claim, isHumanTag } from './completion.ts';
import type { Feedback, Verdict } from './loop.ts';

export type GuardrailFailure = {
  readonly command: string;
  readonly exitCode: number | string;
  readonly hint?: string;
  readonly logFile: string;
  readonly output: string;
  readonly truncated: boolean;
};

/** The message that people match on: its format is fixed. */
export function guardrailMessage(failure: GuardrailFailure): string {
  return [
    `Guardrail "${failure.command}" failed with exit code ${failure.exitCode}.`,
    ...(failure.hint ? [`Hint: ${failure.hint}`] : []),
    `Output file: ${failure.logFile}`,
    failure.truncated ? 'Output (truncated):' : 'Output:',
    failure.output,
  ].join('\n');
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

/** Feedback on a rejected claim. */
export function rejectionFeedback(verdict: Verdict, tag: string): Feedback {
  const failed = verdict.evidence.find((item) => !item.ok);
  if (failed?.check === 'tool-calls' || failed?.check === 'work') {
    return append(
      `Promise detected, but no tool calls/work were performed; you must actually complete the task before emitting the promise.\n(${failed.detail})`,
    );
  }
  return append(
    `Your claim ${tag} was rejected: ${verdict.because}.\nMend this first, then put the tag alone on the last line of your answer again.`,
  );
}

/** Sentences about a mentioned tag, by its form. */
const MENTIONS: Record<Exclude<MentionForm, 'near-miss'>, (tag: string) => string> = {
  sentence: (tag) => `You wrote ${tag} among other text on its line`,
  quoted: (tag) => `You quoted ${tag} in a sentence`,
  checkbox: (tag) => `You put ${tag} behind an open checkbox`,
  struck: (tag) => `You struck ${tag} out`,
  comment: (tag) => `You put ${tag} into a comment`,
  table: (tag) => `You put ${tag} into a table`,
  question: (tag) => `You wrote a question mark behind ${tag}`,
  announced: (tag) => `You announced ${tag} and wrote more behind it`,
  'list-item': (tag) => `You made ${tag} a list item and wrote more behind it`,
  code: (tag) => `You put ${tag} into a code block with other lines`,
};

/** Answers a mention: the form that was seen, and how to claim. */
export function mentionFeedback({ form, tag, written }: Extract<Claim, { kind: 'mention' }>): Feedback {
  const { name, differs, purpose, when } = isHumanTag(tag) ? HUMAN : DONE;
  const observation =
    form === 'near-miss'
      ? `You wrote ${JSON.stringify(written)}, which ${differs}.`
      : `${MENTIONS[form](name)}, which does not count as ${purpose}.`;
  return append(
    `${observation} If ${when}, put the tag alone on a line, the last of your answer, exactly so: ${tag}`,
  );
}

const DONE = {
  name: 'the completion tag',
  differs: 'differs from the completion tag in case or white space',
  purpose: 'a claim',
  when: 'the task is fully done',
};
const HUMAN = {
  name: 'the tag for a human',
  differs: 'is no request to a human: it needs a word in capitals, a colon and your text',
  purpose: 'a request to a human',
  when: 'you cannot go on without a human',
};

/** Feedback on a turn in which every tool call was refused. */
export const refusalFeedback: Feedback = append(
  `Every tool call of your last turn was refused by a permission, the guard or the sandbox: nothing was done. Find a way that is allowed. If there is none, write <promise>BLOCKED: what has to be allowed</promise>; the user allows it with --permissions or in the settings of the agent, and \`ralph guard explain COMMAND\` says what the guard holds against a command.`,
);

function append(text: string): Feedback {
  return { action: 'APPEND', text };
}
