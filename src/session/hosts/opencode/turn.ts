import type { SessionLoop, TranscriptMark } from '../../../store/session-loops.ts';
import { isFromAssistant, type Message, markOf, messagesSince } from '../../embed/messages.ts';
import { continuationOf } from '../../embed/turn.ts';
import { ultrawork } from '../../messages.ts';
import type { TurnRead } from '../../turn.ts';

/** What is in a session when the loop looks. */
export type Look = {
  /** Where a later turn begins. */
  readonly mark: TranscriptMark;
  /** The assistant said or did something since the mark, and nothing of it is still under way. */
  isAnswered(since: TranscriptMark): boolean;
  read(since: TranscriptMark, error: string | null): TurnRead;
};

/** The messages of a session. OpenCode has no file to read: a place among them is their number and the last id. */
export function lookAt(messages: readonly Message[]): Look {
  const { count, id } = markOf(messages);
  const mark = { path: null, offset: count, unseen: id };
  const answersSince = ({ offset, unseen }: TranscriptMark) =>
    messagesSince(messages, { count: offset, id: unseen }).filter(isFromAssistant);
  return {
    mark,
    isAnswered: (since) => answersSince(since).length > 0 && !messages.at(-1)?.underWay,
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

/** What the agent is sent for the next iteration. */
export function continuation({ command, loop }: SessionLoop): string {
  return continuationOf(loop, command === 'ulw-loop' ? ultrawork : undefined);
}
