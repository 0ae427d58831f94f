import { isObject } from '../../../core/shape.ts';
import type { TranscriptMark } from '../../../store/session-loops.ts';
import { fileSize, scanLinesBack } from '../../../system/scan-lines.ts';
import { dropUnseen, joinLastMessage, type TurnRead } from '../../turn.ts';

/** More than this of ordinary lines is not looked at: the end of a turn tells what is asked here. */
const mostBytes = 4 * 1024 * 1024;
const feedbackStart = 'Stop hook feedback:';
const interruptStart = '[Request interrupted by user';

const assistantMark = Buffer.from('"assistant"');
const userMark = Buffer.from('"user"');
const toolResultMark = Buffer.from('"tool_result"');
const toolUseMark = Buffer.from('"tool_use"');
const textMark = Buffer.from('"text"');

/** The turn since the last stop, from the bytes that are new in the transcript. Never throws. */
export function readTurn(path: string | null, from: TranscriptMark, lastMessage: string | null): TurnRead {
  return joinLastMessage(readNewLines(path, from), lastMessage);
}

function readNewLines(path: string | null, from: TranscriptMark): TurnRead {
  const unreadable = { text: [], toolCalls: null, interrupted: false, askedSince: false };
  try {
    if (path === null) return { ...unreadable, mark: from };
    const seen = createReader();
    const scan = path === from.path ? scanLinesBack(path, from.offset, seen) : null;
    if (scan) {
      const mark = { path, offset: scan.wholeEnd, unseen: null };
      return { ...seen.result(from.unseen), mark };
    }
    // Another file, or one that became shorter: what is new in it cannot be told from what is old.
    return { ...unreadable, mark: { path, offset: fileSize(path) ?? 0, unseen: null } };
  } catch {
    return { ...unreadable, mark: from };
  }
}

/** Sees the lines from the last to the first, and parses only those that can matter. */
function createReader() {
  const blocks: string[] = [];
  let toolCalls = 0;
  let humanSpoke = false;
  let interrupted = false;
  let askedSince = false;
  let bytes = 0;
  let ownPromptReached = false;

  const addAssistant = (content: unknown): void => {
    if (typeof content === 'string') blocks.push(content);
    if (!Array.isArray(content)) return;
    for (const block of content.toReversed()) {
      if (!isObject(block)) continue;
      if (block.type === 'text' && typeof block.text === 'string') blocks.push(block.text);
      if (block.type === 'tool_use') toolCalls++;
    }
  };
  const addUser = (entry: Entry, text: string): void => {
    if (text.startsWith(interruptStart)) {
      interrupted = true;
      askedSince ||= humanSpoke;
    } else if (entry.isMeta === true && text.startsWith(feedbackStart)) ownPromptReached = true;
    else humanSpoke ||= isHuman(entry, text);
  };

  return {
    wants: (ends: Buffer) => ends.includes(assistantMark),
    visit(line: Buffer): boolean {
      bytes += line.length;
      if (line.includes(assistantMark)) {
        // A long call of a tool counts without being parsed.
        if (line.length > 32 * 1024 && line.includes(toolUseMark) && !line.includes(textMark)) toolCalls++;
        else onEntry(line, (entry, message) => entry.type === 'assistant' && addAssistant(message.content));
      }
      if (line.includes(userMark) && !line.includes(toolResultMark)) {
        onEntry(line, (entry, message) => entry.type === 'user' && addUser(entry, textOf(message.content)));
      }
      return bytes < mostBytes && !ownPromptReached;
    },
    result: (unseen: string | null) => ({
      text: dropUnseen(blocks.reverse(), ownPromptReached ? null : unseen),
      toolCalls,
      interrupted,
      askedSince,
    }),
  };
}

type Entry = Readonly<Record<string, unknown>>;

/** Calls `use` for an entry of the main thread that is no message of the host itself. */
function onEntry(line: Buffer, use: (entry: Entry, message: Entry) => unknown): void {
  let entry: unknown;
  try {
    entry = JSON.parse(line.toString('utf8'));
  } catch {
    return;
  }
  if (!isObject(entry) || !isObject(entry.message)) return;
  if (entry.isSidechain === true || entry.agentId !== undefined || entry.isApiErrorMessage === true) return;
  if (entry.message.model === '<synthetic>') return;
  use(entry, entry.message);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block) => (isObject(block) && typeof block.text === 'string' ? [block.text] : []))
    .join('\n');
}

/** Words of the user, not of the host in the user's place (summaries, notifications, output of commands). */
function isHuman(entry: Entry, text: string): boolean {
  if (entry.isMeta === true || entry.isCompactSummary === true || text.trim() === '') return false;
  return !/^<(task-notification|local-command|bash-(in|std))/.test(text);
}
