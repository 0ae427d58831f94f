import { parseRecord } from '../../agents/json.ts';
import { isRefusal } from '../../agents/refusal.ts';
import type { TranscriptEntry, TranscriptFormat } from '../../agents/transcript.ts';
import { fileSize, type Needle, scanLinesBack, utf8Of } from '../../os/files/scan-lines.ts';
import type { TranscriptMark } from './session-loops.ts';

/** What a host's transcript says about the turn that ends now. */
export type TurnRead = {
  readonly text: readonly string[];
  /** Null if the transcript could not be read. */
  readonly toolCalls: number | null;
  /** True if every tool call was refused. */
  readonly allRefused?: boolean;
  /** True if the user broke the turn off. */
  readonly interrupted: boolean;
  /** True if the user then asked something else, or nothing came after the interrupt. */
  readonly askedSince: boolean;
  /** What the user typed while the agent worked. */
  readonly words?: readonly UserWord[];
  readonly mark: TranscriptMark;
  /** Error that the turn ended in. */
  readonly error?: string;
};

/** A prompt that waits in the host's queue until the turn ends, or that the agent got in the middle of it. */
export type UserWord = { readonly text: string; readonly waits: boolean };

/** Reads the turn since a mark; more than the wanted number of tool calls need not be counted. */
export type ReadTurn = (from: TranscriptMark, wantedCalls: number) => TurnRead;

type TranscriptQuery = {
  readonly path: string | null;
  readonly from: TranscriptMark;
  /** The last answer by the host's own event; null if it does not say. */
  readonly lastMessage: string | null;
  /** Tool calls after which no more are counted. */
  readonly wantedCalls?: number;
};

/** Most bytes to parse; a byte that is only searched counts an eighth. */
const mostWork = 16 * 1024;
/** Most bytes to search for markers and, while there are too few, for tool calls. */
const mostSearch = 8 * 1024 * 1024;
/** Most bytes to search for an interrupt after which the user asked for something else. */
const mostInterrupt = 1024 * 1024;
/** Start of every marker. */
const markerStart = '<promise>';
/** Characters at the end of an answer that identify it when the transcript has it later. */
const unseenChars = 500;

/** Reads the turn since the last stop from the new bytes of a transcript. Never throws. */
export function readTranscript(format: TranscriptFormat, query: TranscriptQuery): TurnRead {
  return joinLastMessage(readNewLines(format, query), query.lastMessage);
}

function readNewLines(format: TranscriptFormat, { path, from, wantedCalls = 1 }: TranscriptQuery): TurnRead {
  const unreadable = { text: [], toolCalls: null, interrupted: false, askedSince: false };
  try {
    if (path === null) return { ...unreadable, mark: from };
    const turn = newTurn(format, wantedCalls);
    const scanFrom = (offset: number) => scanLinesBack(path, offset, visitorOf(turn));
    // A host that rewrote the file made it shorter: all of it is new.
    const scan = path === from.path ? (scanFrom(from.offset) ?? scanFrom(0)) : null;
    if (scan) {
      const { blocks, toolCalls, interrupted, askedSince, ownPromptReached } = turn;
      return {
        text: dropUnseen(blocks.reverse(), ownPromptReached ? null : from.unseen),
        toolCalls: Math.max(0, toolCalls),
        allRefused: toolCalls <= 0 && turn.failures > 0 && turn.failures === turn.refusals,
        interrupted,
        askedSince,
        words: wordsOf(turn.queue.reverse()),
        ...(turn.error === undefined ? {} : { error: turn.error }),
        mark: { path, offset: scan.wholeEnd, unseen: null },
      };
    }
    // In another file, nobody can tell new lines from old ones.
    return { ...unreadable, mark: { path, offset: fileSize(path) ?? 0, unseen: null } };
  } catch {
    return { ...unreadable, mark: from };
  }
}

type QueueEntry = Extract<TranscriptEntry, { kind: 'queue' }>;
type PartialTurn = ReturnType<typeof newTurn>;

/** The turn as far as its lines were visited, from the last to the first. */
function newTurn(format: TranscriptFormat, wantedCalls: number) {
  return {
    format,
    wantedCalls,
    blocks: [] as string[],
    ids: new Set<string>(),
    queue: [] as QueueEntry[],
    error: undefined as string | undefined,
    toolCalls: 0,
    failures: 0,
    refusals: 0,
    humanSpoke: false,
    interrupted: false,
    askedSince: false,
    work: 0,
    ownPromptReached: false,
  };
}

function visitorOf(turn: PartialTurn) {
  const { isAgent, isCall, isUser, interruptMark } = turn.format;
  const interrupts: Needle = {
    text: interruptMark,
    within: mostInterrupt,
    onMatch(line) {
      if (!isAgent(line) && isUser(line)) addDistant(turn, parseEntry(turn, line));
      return !turn.interrupted && !turn.ownPromptReached;
    },
  };
  const markers: Needle = {
    text: markerStart,
    within: mostSearch,
    onMatch(line) {
      if (isAgent(line) ? !isCall(line) : isUser(line)) addDistant(turn, parseEntry(turn, line));
      return !turn.ownPromptReached;
    },
  };
  const { queueMark } = turn.format;
  const queue: Needle[] =
    queueMark === undefined
      ? []
      : [{ text: queueMark, within: mostSearch, onMatch: (line) => addQueued(turn, line) }];
  return {
    wants: isAgent,
    visit(line: string) {
      if (queueMark !== undefined && line.includes(queueMark)) return addQueued(turn, line);
      return turn.ownPromptReached ? countLateCalls(turn, line) : visitLine(turn, line);
    },
    // The user may have typed while the last stop was answered, before our own prompt.
    needles: () => [...queue, ...(turn.ownPromptReached ? [] : [interrupts, markers])],
  };
}

function addQueued(turn: PartialTurn, line: string): true {
  const entry = parseEntry(turn, line);
  if (entry?.kind === 'queue') turn.queue.push(entry);
  return true;
}

/** Returns the prompts that still wait in the queue, and those that the agent got in the middle of the turn. */
function wordsOf(changes: readonly QueueEntry[]): UserWord[] {
  const heard: UserWord[] = [];
  let waiting: UserWord[] = [];
  for (const { change, text } of changes) {
    if (change === 'add') waiting.push({ text, waits: true });
    if (change === 'serve') waiting.shift();
    if (change === 'clear') waiting = [];
    if (change === 'absorb') {
      waiting = waiting.filter((word) => word.text !== text);
      heard.push({ text, waits: false });
    }
  }
  return [...heard, ...waiting];
}

/** Adds a line, and parses it only if it can matter. False when no more lines are needed. */
function visitLine(turn: PartialTurn, line: string): boolean {
  const { isAgent, isCall, isFailure, isUser } = turn.format;
  const fromAgent = isAgent(line);
  const call = fromAgent && isCall(line);
  const counts = fromAgent ? !call : isUser(line);
  if (call) turn.toolCalls++;
  else if (isFailure(line)) takeBackCall(turn, line);
  if (counts && turn.work < mostWork) addEntry(turn, parseEntry(turn, line));
  else if (counts && mayMatter(turn, line, fromAgent)) addDistant(turn, parseEntry(turn, line));
  turn.work += counts ? line.length : line.length / 8;
  return turn.work < (turn.toolCalls < turn.wantedCalls ? mostSearch : mostWork);
}

/** Counts the calls of a line older than our own prompt, which came too late for the last stop. Its words do not count. */
function countLateCalls(turn: PartialTurn, line: string): boolean {
  const { isAgent, isCall, isFailure, mayCall } = turn.format;
  turn.work += line.length / 8;
  if (isFailure(line)) takeBackCall(turn, line);
  else if (isAgent(line) && isCall(line)) turn.toolCalls++;
  else if (isAgent(line) && mayCall(line)) {
    const entry = parseEntry(turn, line);
    if (entry?.kind === 'agent') turn.toolCalls += entry.toolCalls;
  }
  return turn.toolCalls < turn.wantedCalls && turn.work < mostSearch;
}

/** Takes back the call of an earlier line, which this line reports as failed. */
function takeBackCall(turn: PartialTurn, line: string): void {
  turn.toolCalls--;
  addFailure(turn, line);
}

function addFailure(turn: PartialTurn, text: string): void {
  turn.failures++;
  if (isRefusal(text)) turn.refusals++;
}

function mayMatter(
  { format, toolCalls, wantedCalls }: PartialTurn,
  line: string,
  fromAgent: boolean,
): boolean {
  if (line.includes(markerStart)) return true;
  return fromAgent ? toolCalls < wantedCalls && format.mayCall(line) : line.includes(format.interruptMark);
}

/** Returns the entry of a line; null if it has none, or one that was read from a later line. */
function parseEntry({ format, ids }: PartialTurn, line: string): TranscriptEntry | null {
  const value = parseRecord(utf8Of(format.shorten?.(line) ?? line));
  const entry = value === undefined ? null : format.entryOf(value);
  if (entry?.kind !== 'agent' || entry.id === undefined) return entry;
  if (ids.has(entry.id)) return null;
  ids.add(entry.id);
  return entry;
}

function addEntry(turn: PartialTurn, entry: TranscriptEntry | null): void {
  if (entry?.kind === 'agent') {
    turn.blocks.push(...entry.text.toReversed());
    turn.toolCalls += entry.toolCalls;
    for (const text of entry.failures ?? []) addFailure(turn, text);
  }
  if (entry?.kind === 'error' && turn.blocks.length === 0 && turn.toolCalls === 0) turn.error ??= entry.text;
  if (entry?.kind === 'human') turn.humanSpoke = true;
  if (entry?.kind === 'own-prompt') turn.ownPromptReached = true;
  if (entry?.kind === 'interrupt') {
    turn.interrupted = true;
    // A stop right after the interrupt ends the interrupted turn itself.
    turn.askedSince ||= turn.humanSpoke || (turn.blocks.length === 0 && turn.toolCalls === 0);
  }
}

/** Adds an entry from further back. Blank lines separate its words from later ones, since lines between were skipped. */
function addDistant(turn: PartialTurn, entry: TranscriptEntry | null): void {
  addEntry(
    turn,
    entry?.kind === 'agent' ? { ...entry, text: entry.text.map((text) => `${text}\n\n`) } : entry,
  );
  turn.askedSince ||= entry?.kind === 'interrupt';
}

/** Adds the last answer by the host's event, which in some versions comes before the transcript has it. */
function joinLastMessage(turn: TurnRead, lastMessage: string | null): TurnRead {
  const last = lastMessage?.trim() ?? '';
  if (last === '' || last === turn.error?.trim() || turn.text.some((block) => block.trim() === last))
    return turn;
  return {
    ...turn,
    text: [...turn.text, last],
    mark: { ...turn.mark, unseen: last.slice(-unseenChars) },
  };
}

/** Removes the last answer of the turn before, if the transcript got it only now. */
function dropUnseen(text: readonly string[], unseen: string | null): readonly string[] {
  const [first, ...others] = text;
  return unseen !== null && first?.trim().endsWith(unseen) ? others : text;
}
