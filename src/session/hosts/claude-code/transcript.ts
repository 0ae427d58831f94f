import { isObject } from '../../../core/shape.ts';
import type { TranscriptMark } from '../../../store/session-loops.ts';
import { fileSize, scanLinesBack, utf8Of } from '../../../system/scan-lines.ts';
import { dropUnseen, joinLastMessage, type TurnRead } from '../../turn.ts';

/** How many bytes are parsed at most; those that are only searched count an eighth. The end of a turn tells enough. */
const mostWork = 128 * 1024;
/** How much further calls of tools are looked for, as long as too few were found. */
const mostSearch = 8 * 1024 * 1024;
const feedbackStart = 'Stop hook feedback:';
const interruptStart = '[Request interrupted by user';

const assistantMark = '"assistant"';
const userMark = '"user"';
const toolResultMark = '"tool_result"';
const toolUseMark = '"tool_use"';
const textMark = '"text"';
const sidechainMarks = ['"isSidechain":true', '"isSidechain": true', '"agentId"'];

/** The turn since the last stop, from the bytes that are new in the transcript. Never throws. */
export function readTurn(
  path: string | null,
  from: TranscriptMark,
  lastMessage: string | null,
  wantedCalls = 1,
): TurnRead {
  return joinLastMessage(readNewLines(path, from, wantedCalls), lastMessage);
}

function readNewLines(path: string | null, from: TranscriptMark, wantedCalls: number): TurnRead {
  const unreadable = { text: [], toolCalls: null, interrupted: false, askedSince: false };
  try {
    if (path === null) return { ...unreadable, mark: from };
    const seen = createReader(wantedCalls);
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
function createReader(wantedCalls: number) {
  const blocks: string[] = [];
  let toolCalls = 0;
  let humanSpoke = false;
  let interrupted = false;
  let askedSince = false;
  let work = 0;
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
  const add = (parsed: ReturnType<typeof parseEntry>): void => {
    if (parsed?.entry.type === 'assistant') addAssistant(parsed.content);
    if (parsed?.entry.type === 'user') addUser(parsed.entry, textOf(parsed.content));
  };

  /** What is new but older than our own prompt came too late for the stop before: its calls count, its words do not. */
  const countLate = (line: string): boolean => {
    work += line.length / 8;
    if (line.includes(assistantMark) && line.includes(toolUseMark)) {
      const content = parseEntry(line)?.content;
      if (Array.isArray(content)) toolCalls += content.filter(isToolUse).length;
    }
    return toolCalls < wantedCalls && work < mostSearch;
  };

  return {
    wants: (ends: string) => ends.includes(assistantMark),
    visit(line: string): boolean {
      if (ownPromptReached) return countLate(line);
      const fromAssistant = line.includes(assistantMark);
      const isCall = fromAssistant && isToolCallOnly(line);
      const counts = fromAssistant ? !isCall : line.includes(userMark) && !line.includes(toolResultMark);
      if (isCall) toolCalls++;
      if (counts && work < mostWork) add(parseEntry(line));
      work += counts ? line.length : line.length / 8;
      return work < (toolCalls < wantedCalls ? mostSearch : mostWork);
    },
    result: (unseen: string | null) => ({
      text: dropUnseen(blocks.reverse(), ownPromptReached ? null : unseen),
      toolCalls,
      interrupted,
      askedSince,
    }),
  };
}

function isToolUse(block: unknown): boolean {
  return isObject(block) && block.type === 'tool_use';
}

type Entry = Readonly<Record<string, unknown>>;

/** A call of a tool, such as a long file to write, counts without being parsed. */
function isToolCallOnly(line: string): boolean {
  return (
    line.includes(toolUseMark) &&
    ![textMark, toolResultMark, ...sidechainMarks].some((mark) => line.includes(mark))
  );
}

/** An entry of the main thread that is no message of the host itself, or null. */
function parseEntry(line: string): { readonly entry: Entry; readonly content: unknown } | null {
  let entry: unknown;
  try {
    entry = JSON.parse(utf8Of(line));
  } catch {
    return null;
  }
  if (!isObject(entry) || !isObject(entry.message)) return null;
  if (entry.isSidechain === true || entry.agentId !== undefined || entry.isApiErrorMessage === true)
    return null;
  return entry.message.model === '<synthetic>' ? null : { entry, content: entry.message.content };
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
