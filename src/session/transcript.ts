import { isObject } from '../core/json.ts';
import type { TranscriptMark } from '../store/session-loops.ts';
import { fileSize, type Needle, scanLinesBack, utf8Of } from '../system/scan-lines.ts';
import { dropUnseen, joinLastMessage, type TurnRead } from './turn.ts';

/** What a line of a transcript tells. */
export type TranscriptEntry =
  /** Words and calls of the agent. A host that writes a message again as it grows gives it an id. */
  | {
      readonly kind: 'agent';
      readonly text: readonly string[];
      readonly toolCalls: number;
      readonly id?: string;
    }
  /** What a stop hook said to the agent: the turn began there. */
  | { readonly kind: 'own-prompt' }
  | { readonly kind: 'human' }
  /** The user broke the turn off. */
  | { readonly kind: 'interrupt' };

/** How a host writes its transcript, a JSON object in each line. Lines come as Latin-1. */
export type TranscriptFormat = {
  /** Whether a line may be the agent's; of a long line it sees the two ends first. */
  readonly isAgent: (line: string) => boolean;
  /** Whether one of those is a call of a tool without words, which counts without being parsed. */
  readonly isCall: (line: string) => boolean;
  /** Whether any other of those may hold calls. */
  readonly mayCall: (line: string) => boolean;
  /** What a line holds that says that the user broke the turn off. */
  readonly interruptMark: string;
  /** Whether any other line may be of the user or of a hook. */
  readonly isUser: (line: string) => boolean;
  readonly parse: (line: string) => Readonly<Record<string, unknown>> | null;
  readonly entryOf: (value: Readonly<Record<string, unknown>>) => TranscriptEntry | null;
};

/** How many bytes are parsed at most; those that are only searched count an eighth. */
const mostWork = 16 * 1024;
/** How much further calls of tools are looked for, as long as too few were found. */
const mostSearch = 8 * 1024 * 1024;
/** Beyond that, only lines with a tag can matter. */
const tag = '<promise>';
/** And, less far back, those of an interrupt, after which the agent went on because somebody asked it something. */
const mostInterrupt = 1024 * 1024;

/** The turn since the last stop, from the bytes that are new in the transcript. Never throws. */
export function readTranscript(
  format: TranscriptFormat,
  path: string | null,
  from: TranscriptMark,
  lastMessage: string | null,
  wantedCalls = 1,
): TurnRead {
  return joinLastMessage(readNewLines(format, path, from, wantedCalls), lastMessage);
}

/** A line as JSON, or null. */
export function parseLine(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(utf8Of(line));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function readNewLines(
  format: TranscriptFormat,
  path: string | null,
  from: TranscriptMark,
  wantedCalls: number,
): TurnRead {
  const unreadable = { text: [], toolCalls: null, interrupted: false, askedSince: false };
  try {
    if (path === null) return { ...unreadable, mark: from };
    const reader = createReader(format, wantedCalls);
    const scan = path === from.path ? scanLinesBack(path, from.offset, reader) : null;
    if (scan) {
      const mark = { path, offset: scan.wholeEnd, unseen: null };
      return { ...reader.result(from.unseen), mark };
    }
    // Another file, or one that became shorter: what is new in it cannot be told from what is old.
    return { ...unreadable, mark: { path, offset: fileSize(path) ?? 0, unseen: null } };
  } catch {
    return { ...unreadable, mark: from };
  }
}

/** Sees the lines from the last to the first, and parses only those that can matter. */
function createReader(format: TranscriptFormat, wantedCalls: number) {
  const { isAgent, isCall, mayCall, isUser, parse, entryOf, interruptMark } = format;
  const blocks: string[] = [];
  const ids = new Set<string>();
  let toolCalls = 0;
  let humanSpoke = false;
  let interrupted = false;
  let askedSince = false;
  let work = 0;
  let ownPromptReached = false;

  const entryIn = (line: string): TranscriptEntry | null => {
    const value = parse(line);
    const entry = value && entryOf(value);
    if (entry?.kind !== 'agent' || entry.id === undefined) return entry;
    if (ids.has(entry.id)) return null;
    ids.add(entry.id);
    return entry;
  };
  const add = (entry: TranscriptEntry | null): void => {
    if (entry?.kind === 'agent') {
      blocks.push(...entry.text.toReversed());
      toolCalls += entry.toolCalls;
    }
    if (entry?.kind === 'human') humanSpoke = true;
    if (entry?.kind === 'own-prompt') ownPromptReached = true;
    if (entry?.kind === 'interrupt') {
      interrupted = true;
      // A stop right after it, with nothing between, is the end of the turn that was broken off.
      askedSince ||= humanSpoke || (blocks.length === 0 && toolCalls === 0);
    }
  };
  /** Of words further back only those with a tag matter, and they are not next to what was found so far. */
  const addFarBack = (entry: TranscriptEntry | null): void => {
    add(entry?.kind === 'agent' ? { ...entry, text: entry.text.map((text) => `${text}\n\n`) } : entry);
    askedSince ||= entry?.kind === 'interrupt';
  };
  const mayMatter = (line: string, fromAgent: boolean): boolean => {
    if (line.includes(tag)) return true;
    return fromAgent ? toolCalls < wantedCalls && mayCall(line) : line.includes(interruptMark);
  };
  /** What is new but older than our own prompt came too late for the stop before: its calls count, its words do not. */
  const countLate = (line: string): boolean => {
    work += line.length / 8;
    if (isAgent(line) && isCall(line)) toolCalls++;
    else if (isAgent(line) && mayCall(line)) {
      const entry = entryIn(line);
      if (entry?.kind === 'agent') toolCalls += entry.toolCalls;
    }
    return toolCalls < wantedCalls && work < mostSearch;
  };

  const interrupts: Needle = {
    text: interruptMark,
    within: mostInterrupt,
    found(line) {
      if (!isAgent(line) && isUser(line)) addFarBack(entryIn(line));
      return !interrupted && !ownPromptReached;
    },
  };
  const tags: Needle = {
    text: tag,
    within: mostSearch,
    found(line) {
      if (isAgent(line) ? !isCall(line) : isUser(line)) addFarBack(entryIn(line));
      return !ownPromptReached;
    },
  };

  return {
    wants: isAgent,
    visit(line: string): boolean {
      if (ownPromptReached) return countLate(line);
      const fromAgent = isAgent(line);
      const call = fromAgent && isCall(line);
      const counts = fromAgent ? !call : isUser(line);
      if (call) toolCalls++;
      if (counts && work < mostWork) add(entryIn(line));
      else if (counts && mayMatter(line, fromAgent)) addFarBack(entryIn(line));
      work += counts ? line.length : line.length / 8;
      return work < (toolCalls < wantedCalls ? mostSearch : mostWork);
    },
    needles: () => (ownPromptReached ? [] : [interrupts, tags]),
    result: (unseen: string | null) => ({
      text: dropUnseen(blocks.reverse(), ownPromptReached ? null : unseen),
      toolCalls,
      interrupted,
      askedSince,
    }),
  };
}
