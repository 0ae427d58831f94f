import { parseRecord } from '../../agents/json.ts';
import { isRefusal } from '../../agents/refusal.ts';
import type { TranscriptEntry, TranscriptFormat } from '../../agents/transcript.ts';
import { fileSize, scanLinesBack, utf8Of } from '../../os/files/scan-lines.ts';
import type { TranscriptMark } from './session-loops.ts';

/** What a host's transcript says about the turn that ends now. */
export type TurnRead = {
  readonly text: readonly string[];
  /** Null if the transcript could not be read. */
  readonly toolCalls: number | null;
  /** True if the result of the last tool call is not in the transcript yet: it may tell that the call was refused. */
  readonly awaitsResult?: boolean;
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

/** Reads the turn since a mark. */
export type ReadTurn = (from: TranscriptMark) => TurnRead;

type TranscriptQuery = {
  readonly path: string | null;
  readonly from: TranscriptMark;
  /** The last answer by the host's own event; null if it does not say. */
  readonly lastMessage: string | null;
};

/** Most bytes of a turn to read, from its end. A long line of somebody else is skipped and does not count. */
const mostBytes = 4 * 1024 * 1024;
/** Bytes from the end of a turn whose every word is read. Before them, only answers with a tag say something that counts. */
const nearBytes = 64 * 1024;
/** Characters at the end of an answer that identify it when the transcript has it later. */
const unseenChars = 500;

/** Reads the turn since the last stop from the new bytes of a transcript. Never throws. */
export function readTranscript(format: TranscriptFormat, query: TranscriptQuery): TurnRead {
  return joinLastMessage(readNewLines(format, query), query.lastMessage);
}

function readNewLines(format: TranscriptFormat, { path, from }: TranscriptQuery): TurnRead {
  const unreadable = { text: [], toolCalls: null, interrupted: false, askedSince: false };
  try {
    if (path === null) return { ...unreadable, mark: from };
    // A host that rewrote the file made it shorter: all of it is new.
    const lines =
      path === from.path ? (readEntries(format, path, from.offset) ?? readEntries(format, path, 0)) : null;
    // In another file, nobody can tell new lines from old ones.
    if (lines === null) return { ...unreadable, mark: { path, offset: fileSize(path) ?? 0, unseen: null } };
    const { entries, awaitsResult, end } = lines;
    return { ...turnOf(entries, from.unseen), awaitsResult, mark: { path, offset: end, unseen: null } };
  } catch {
    return { ...unreadable, mark: from };
  }
}

/** Reads the entries after a place in the file, oldest first; null if the file is shorter. */
function readEntries(format: TranscriptFormat, path: string, from: number) {
  const entries: TranscriptEntry[] = [];
  const ids = new Set<string>();
  let bytes = 0;
  let last: 'call' | 'result' | null = null;
  const scan = scanLinesBack(path, from, {
    wants(ends) {
      if (format.isResult?.(ends)) last ??= 'result';
      return format.isAgent(ends);
    },
    visit(line) {
      if (last === null) last = format.isResult?.(line) ? 'result' : format.isCall(line) ? 'call' : null;
      const isNear = bytes <= nearBytes;
      bytes += line.length;
      const entry = entryOf(format, line, isNear);
      const id = entry?.kind === 'agent' ? entry.id : undefined;
      // A message that grew was written again: the last form counts.
      if (entry !== null && !(id !== undefined && ids.has(id))) entries.push(entry);
      if (id !== undefined) ids.add(id);
      return bytes < mostBytes;
    },
  });
  const awaitsResult = format.isResult !== undefined && last === 'call';
  return scan && { entries: entries.reverse(), awaitsResult, end: scan.wholeEnd };
}

function entryOf(format: TranscriptFormat, line: string, isNear: boolean): TranscriptEntry | null {
  if (format.isAgent(line)) {
    if (format.isCall(line)) return { kind: 'agent', text: [], toolCalls: 1 };
    // Hosts may write the brackets of a tag as \u003c and \u003e.
    if (!isNear && !line.includes('promise')) return null;
  } else {
    // Takes back the call of an earlier line.
    if (format.isFailure(line)) return { kind: 'agent', text: [], toolCalls: -1, failures: [line] };
    if (!format.isUser(line)) return null;
  }
  const value = parseRecord(utf8Of(format.shorten?.(line) ?? line));
  return value === undefined ? null : format.entryOf(value);
}

type Entry<Kind extends TranscriptEntry['kind']> = Extract<TranscriptEntry, { kind: Kind }>;

function isKind<Kind extends TranscriptEntry['kind']>(kind: Kind) {
  return (entry: TranscriptEntry): entry is Entry<Kind> => entry.kind === kind;
}

function turnOf(entries: readonly TranscriptEntry[], unseen: string | null): Omit<TurnRead, 'mark'> {
  // Words before our own prompt belong to the turn before; calls count, since they came too late for its stop.
  const start = entries.findLastIndex(isKind('own-prompt'));
  const turn = entries.slice(start + 1);
  const answers = entries.filter(isKind('agent'));
  const toolCalls = answers.reduce((sum, answer) => sum + answer.toolCalls, 0);
  const failures = answers.flatMap((answer) => answer.failures ?? []);
  const text = turn.filter(isKind('agent')).flatMap((answer) => answer.text);
  const last = turn.findLast((entry) =>
    entry.kind === 'agent' ? hasContent(entry) : entry.kind === 'error' || entry.kind === 'interrupt',
  );
  const interrupt = turn.findIndex(isKind('interrupt'));
  const interrupted = interrupt !== -1;
  return {
    text: dropUnseen(text, start === -1 ? unseen : null),
    toolCalls: Math.max(0, toolCalls),
    allRefused: toolCalls <= 0 && failures.length > 0 && failures.every(isRefusal),
    interrupted,
    askedSince: interrupted && (last?.kind === 'interrupt' || turn.slice(interrupt).some(isKind('human'))),
    words: wordsOf(entries.filter(isKind('queue'))),
    ...(last?.kind === 'error' ? { error: last.text } : {}),
  };
}

function hasContent({ text, toolCalls }: Entry<'agent'>): boolean {
  return text.length > 0 || toolCalls > 0;
}

/** Returns the prompts that still wait in the queue, and those that the agent got in the middle of the turn. */
function wordsOf(changes: readonly Entry<'queue'>[]): UserWord[] {
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
