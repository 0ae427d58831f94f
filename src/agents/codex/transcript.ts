import { isObject } from '../../core/json.ts';
import { textsIn } from '../events.ts';
import type { TranscriptEntry, TranscriptFormat } from '../transcript.ts';

const item = '"response_item"';
const aborted = '"turn_aborted"';
const assistant = '"role":"assistant"';
// Quotes in text are escaped, so this never matches text.
const callType = /"type":"(?:function|custom_tool|local_shell|web_search|tool_search|image_generation)_call"/;
// Output of a command that failed, or that a hook or the user denied.
const failedCall =
  /_call_output",.*?"output":"(?:Chunk ID: \w+\\n)?(?:Wall time: [\d.]+ seconds\\n)?(?:(?:Exit code:? |Process exited with code )(?!0\b)\d|(?:Command|Tool call) blocked by |[\w ]{0,40}rejected by user)/;

/**
 * Rollout file of Codex 0.166: messages to and from the model as `response_item`, most of them again as `event_msg`.
 * Subagents have their own files.
 */
export const codexTranscript: TranscriptFormat = {
  isAgent: (line) => line.includes(item) && (line.includes(assistant) || callType.test(line)),
  isCall: (line) => callType.test(line),
  isFailure: (line) => line.includes(item) && failedCall.test(line),
  isUser: (line) => line.includes(aborted) || line.includes('"UserMessage"') || isHookPrompt(line),
  entryOf({ type, payload }) {
    if (!isObject(payload)) return null;
    if (type === 'event_msg') return eventEntry(payload);
    if (type !== 'response_item' || payload.type !== 'message') return null;
    const text = textsIn(payload.content);
    if (payload.role === 'assistant') return { kind: 'agent', text, toolCalls: 0 };
    return payload.role === 'user' && text[0]?.startsWith('<hook_prompt') ? { kind: 'own-prompt' } : null;
  },
};

function isHookPrompt(line: string): boolean {
  return line.includes('<hook_prompt') && line.includes(item);
}

function eventEntry(event: Readonly<Record<string, unknown>>): TranscriptEntry | null {
  if (event.type === 'turn_aborted') return { kind: 'interrupt' };
  return isObject(event.item) && event.item.type === 'UserMessage' ? { kind: 'human' } : null;
}
