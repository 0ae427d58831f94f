import { ultrawork } from '../../session/loop-messages.ts';
import type { SessionLoop, TranscriptMark } from '../../session/session-loops.ts';
import type { TurnRead } from '../../session/transcript.ts';
import { continuationOf } from '../embedded-turn.ts';
import {
  allRefusedIn,
  isFromAssistant,
  type Message,
  markOf,
  messagesSince,
  toolCallsIn,
} from '../host-messages.ts';

/** Reads the messages of a session. OpenCode has no transcript file: a mark is the number of messages and the last id. */
export function readSession(messages: readonly Message[]) {
  const { count, id } = markOf(messages);
  const mark = { path: null, offset: count, unseen: id };
  const messagesFrom = ({ offset, unseen }: TranscriptMark) =>
    messagesSince(messages, { count: offset, id: unseen });
  const answersSince = (since: TranscriptMark) => messagesFrom(since).filter(isFromAssistant);
  return {
    /** Where a later turn begins. */
    mark,
    /** True if the assistant said or did something since the mark, and nothing of it is still under way. */
    isAnswered: (since: TranscriptMark) => answersSince(since).length > 0 && !messages.at(-1)?.underWay,
    readTurn(since: TranscriptMark, error: string | null): TurnRead {
      const text = answersSince(since).flatMap((message) => message.text);
      return {
        text,
        toolCalls: toolCallsIn(messagesFrom(since)) ?? 0,
        allRefused: allRefusedIn(messagesFrom(since)),
        interrupted: false,
        askedSince: false,
        mark,
        ...(error !== null && text.length === 0 ? { error } : {}),
      };
    },
  };
}

/** Builds the prompt of the next iteration. */
export function continuation({ command, loop }: SessionLoop): string {
  return continuationOf(loop, command === 'ulw-loop' ? ultrawork : undefined);
}
