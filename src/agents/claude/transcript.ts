import { isObject } from '../../core/json.ts';
import { textOf, textsIn } from '../events.ts';
import { asRecord, type JsonRecord, list, str } from '../json.ts';
import type { TranscriptEntry, TranscriptFormat } from '../transcript.ts';

const feedbackStart = 'Stop hook feedback:';
const interruptStart = '[Request interrupted by user';

const queueChanges = new Map<string, 'add' | 'absorb' | 'serve' | 'clear'>([
  ['enqueue', 'add'],
  ['remove', 'absorb'],
  ['dequeue', 'serve'],
  ['popAll', 'clear'],
]);
const assistantMark = '"assistant"';
const toolResultMark = '"tool_result"';
const subagentMarks = ['"isSidechain":true', '"isSidechain": true', '"agentId"'];
const wordsOrOthers = ['"text"', toolResultMark, ...subagentMarks];

/** Transcript of Claude Code: one entry for each block of a message, with those of subagents and of the CLI itself. */
export const claudeTranscript: TranscriptFormat = {
  isAgent: (line) => line.includes(assistantMark),
  isCall: (line) => hasToolUse(line) && !wordsOrOthers.some((mark) => line.includes(mark)),
  isFailure: (line) =>
    line.includes('"is_error"') &&
    line.includes(toolResultMark) &&
    /"is_error": ?true/.test(line) &&
    !subagentMarks.some((mark) => line.includes(mark)),
  isResult: (line) => line.includes(toolResultMark),
  isUser: (line) =>
    !line.includes(toolResultMark) &&
    ['"user"', '"queue-operation"', '"hook_additional_context"'].some((mark) => line.includes(mark)),
  entryOf(entry) {
    const { message, attachment } = entry;
    if (entry.type === 'queue-operation') return queueEntry(entry.operation, entry.content);
    if (isObject(attachment)) return isStopContext(attachment) ? { kind: 'own-prompt' } : null;
    if (!isObject(message) || entry.isSidechain === true || entry.agentId !== undefined) return null;
    if (entry.isApiErrorMessage === true) return { kind: 'error', text: textOf(message.content) };
    if (message.model === '<synthetic>') return null;
    if (entry.type === 'assistant') return agentEntry(message.content);
    return entry.type === 'user' ? userEntry(entry, textOf(message.content)) : null;
  },
};

/** Looks for the type, since every block of such a message names "tool_use" as its stop reason. In text, quotes are escaped. */
function hasToolUse(line: string): boolean {
  return line.includes('"type":"tool_use"') || line.includes('"type": "tool_use"');
}

function agentEntry(content: unknown): TranscriptEntry {
  const blocks = list(content).map(asRecord);
  return {
    kind: 'agent',
    text: textsIn(typeof content === 'string' ? content : blocks.filter(({ type }) => type === 'text')),
    toolCalls: blocks.filter(({ type }) => type === 'tool_use').length,
  };
}

function isStopContext({ type, hookEvent }: JsonRecord): boolean {
  return type === 'hook_additional_context' && hookEvent === 'Stop';
}

function userEntry(entry: JsonRecord, text: string): TranscriptEntry | null {
  if (text.startsWith(interruptStart)) return { kind: 'interrupt' };
  if (entry.isMeta === true && text.startsWith(feedbackStart)) return { kind: 'own-prompt' };
  return isHuman(entry, text) ? { kind: 'human' } : null;
}

/** True for text of the user; the host writes summaries, notifications and output of commands in the user's place. */
function isHuman(entry: JsonRecord, text: string): boolean {
  if (entry.isMeta === true || entry.isCompactSummary === true || text.trim() === '') return false;
  return !/^<(task-notification|local-command|bash-(in|std))/.test(text);
}

function queueEntry(operation: unknown, content: unknown): TranscriptEntry | null {
  const change = queueChanges.get(String(operation));
  return change === undefined ? null : { kind: 'queue', change, text: str(content) ?? '' };
}
