import { textOf, textsIn } from '../events.ts';
import { asRecord, list } from '../json.ts';
import type { TranscriptEntry, TranscriptFormat } from '../transcript.ts';

const agent = '"type":"gemini"';
const user = '"type":"user"';
const cancelled = 'Request cancelled.';
const calls = ',"toolCalls":[';
const longLine = 128 * 1024;

/**
 * Chat file of Gemini CLI 0.61. A message is written again, with the same id, when its tool calls are over; lines with
 * `$set` repeat whole conversations.
 */
export const geminiTranscript: TranscriptFormat = {
  isAgent: (line) => line.includes(agent) && !line.startsWith('{"$set"'),
  isCall: () => false,
  isFailure: () => false,
  isUser: (line) => isCancel(line) || (line.includes(user) && !line.includes('"functionResponse"')),
  shorten: (line) => (line.length > longLine ? withoutResults(line) : line),
  entryOf(entry) {
    const { type, id, content, toolCalls } = entry;
    if (type === 'gemini') {
      const calls = list(toolCalls).map(asRecord);
      const failures = calls.filter(({ status }) => /^(?:error|cancelled)$/.test(String(status)));
      return {
        kind: 'agent',
        text: textsIn(content),
        toolCalls: calls.length - failures.length,
        failures: failures.map((call) => JSON.stringify(call)),
        ...(typeof id === 'string' ? { id } : {}),
      };
    }
    if (type === 'info' && content === cancelled) return { kind: 'interrupt' };
    return type === 'user' ? userEntry(textOf(content)) : null;
  },
};

function isCancel(line: string): boolean {
  return line.includes(cancelled) && line.includes('"type":"info"');
}

function userEntry(text: string): TranscriptEntry | null {
  if (text.includes('[Ralph loop: iteration ')) return { kind: 'own-prompt' };
  return text.trim() === '' ? null : { kind: 'human' };
}

/** Cuts off the output of tools, which comes last in the line and may have many megabytes. */
function withoutResults(line: string): string {
  const start = line.indexOf(calls);
  return start === -1 ? line : `${line.slice(0, start)}${calls}{}]}`;
}
