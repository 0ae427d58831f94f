import { composePrompt } from '../../../core/prompt.ts';
import { fillTemplate } from '../../../core/template.ts';
import type { SessionLoop, TranscriptMark } from '../../../store/session-loops.ts';
import { CONTINUATION_PROMPT_TEMPLATE } from '../../embed/constants.ts';
import {
  type HostMessage,
  isFromAssistant,
  lastUserMark,
  markOf,
  messagesSince,
  readMessages,
} from '../../embed/messages.ts';
import { ultrawork } from '../../messages.ts';
import type { TurnRead } from '../../turn.ts';

/** What is in a session when the loop looks. */
export type Look = {
  /** Where a later turn begins. */
  readonly mark: TranscriptMark;
  /** Changes when the user writes. */
  readonly lastUser: string;
  /** The assistant said or did something since the mark, and nothing of it is still under way. */
  isAnswered(since: TranscriptMark): boolean;
  read(since: TranscriptMark, error: string | null): TurnRead;
};

/** The messages of a session. OpenCode has no file to read: a place among them is their number and the last id. */
export function lookAt(given: readonly HostMessage[]): Look {
  const messages = readMessages(given);
  const { count, id } = markOf(messages);
  const mark = { path: null, offset: count, unseen: id };
  const answersSince = ({ offset, unseen }: TranscriptMark) =>
    messagesSince(messages, { count: offset, id: unseen }).filter(isFromAssistant);
  return {
    mark,
    lastUser: lastUserMark(messages),
    isAnswered: (since) => answersSince(since).length > 0 && !isUnderWay(given.at(-1)),
    read(since, error) {
      const answers = answersSince(since);
      const text = answers.flatMap((message) => message.text);
      return {
        text,
        toolCalls: answers.reduce((sum, { toolCalls }) => sum + (toolCalls ?? 0), 0),
        interrupted: false,
        askedSince: false,
        mark,
        ...(error !== null && text.length === 0 ? { error } : {}),
      };
    },
  };
}

/** An answer that has begun and is not complete. */
function isUnderWay(message: HostMessage | undefined): boolean {
  const { role, time, error } = message?.info ?? {};
  return role === 'assistant' && time !== undefined && time.completed === undefined && error === undefined;
}

/** The prompt of the next iteration, with what the core has to say about a claim that did not count. */
export function continuation({ command, loop }: SessionLoop): string {
  const task = fillTemplate(CONTINUATION_PROMPT_TEMPLATE, {
    ITERATION: loop.iteration,
    MAX: loop.plan.limits.iterations ?? '∞',
    PROMISE: loop.plan.completion.promise?.token ?? '',
    PROMPT: loop.task,
  });
  const prompt = composePrompt({ ...loop, task });
  return command === 'ulw-loop' ? `${ultrawork}\n\n${prompt}` : prompt;
}
