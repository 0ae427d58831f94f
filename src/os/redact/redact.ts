import { isSecretName } from 'ralphkit-guard/secret-names';
import { type Anchors, createAnchors, tripleAt } from './anchors.ts';
import {
  type Alphabet,
  esc,
  gapPattern,
  namedBegin,
  type SecretFormat,
  secretFormats,
  tailOf,
  tokenBytes,
} from './formats.ts';
import { type Env, inBase64, placeholder, secretValues } from './secrets.ts';

/** Takes secrets out of a stream; they may be cut by chunk borders. */
type RedactingStream = { push(chunk: Buffer): Buffer; end(): Buffer };

/** The one place that every text of an agent passes before a person or a disk sees it. */
export type Redactor = {
  text(text: string): string;
  stream(): RedactingStream;
};

/** A secret as the scan sees it: exact bytes, or the prefix of a format. */
type Needle = { readonly start: Buffer; readonly label: string; readonly format: SecretFormat | null };

type NeedleIndex = { readonly anchors: Anchors; readonly byTriple: ReadonlyMap<number, readonly Needle[]> };

/** The part to replace; `open` where the token may go on beyond the bytes looked at. */
type Match = {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly open: Alphabet | null;
};

/** Bytes to look through; `final` where no more come. */
type Scan = {
  readonly index: NeedleIndex;
  readonly bytes: Buffer;
  readonly final: boolean;
  /** The last run of each alphabet, so that many prefixes in one run do not look through it again and again. */
  readonly runs: Map<Alphabet, { readonly from: number; end: number }>;
  /** The next place of each character that a format needs, for the same reason. */
  readonly needs: Map<string, number>;
  isInWord(at: number): boolean;
};

const empty = Buffer.alloc(0);
/** Longest newline or colour code in the middle of a value. */
const longestGap = 32;
/** Matches the beginning of one at the end of a chunk. */
const cutGap = new RegExp(String.raw`^[\r${esc}\\][\w[\\;]*$`);

/** Finds the values of secret variables in `env`, in each way they may be written, and known kinds of secrets. */
export function createRedactor(env: Env): Redactor {
  const index = createIndex([
    ...secretValues(env).flatMap(({ label, value }) =>
      [value, ...inBase64(value)].map((form) => ({ start: Buffer.from(form), label, format: null })),
    ),
    ...secretFormats.flatMap((format) =>
      format.prefixes.map((prefix) => ({ start: Buffer.from(prefix), label: format.label, format })),
    ),
  ]);
  return {
    text(text) {
      const before = Buffer.from(text);
      const after = createPass(index)(before, true);
      return after === before ? text : after.toString();
    },
    stream() {
      const pass = createPass(index);
      return { push: (chunk) => pass(chunk, false), end: () => pass(empty, true) };
    },
  };
}

function createIndex(needles: readonly Needle[]): NeedleIndex {
  const byTriple = new Map<number, Needle[]>();
  for (const needle of needles) {
    const triple = tripleAt(needle.start, 0);
    const others = byTriple.get(triple);
    if (others === undefined) byTriple.set(triple, [needle]);
    else others.push(needle);
  }
  return { anchors: createAnchors([...byTriple.keys()]), byTriple };
}

/** Returns a scan over one stream, which holds back only what may still turn out to be the beginning of a secret. */
function createPass(index: NeedleIndex): (chunk: Buffer, final: boolean) => Buffer {
  let rest: Buffer = empty;
  /** The last two characters before `rest`, without redacted ones. */
  let before = '';
  /** Bytes by which a long token that was replaced already may go on. */
  let open: Alphabet | null = null;

  return (chunk, final) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const search = (from: number) => index.anchors.search(bytes, from);
    const pieces: Buffer[] = [];
    let done = open === null ? 0 : runEnd(bytes, 0, open);
    if (done < bytes.length) open = null;
    let end = bytes.length;
    const textBefore = (at: number) =>
      (done === 0 ? before : '') + bytes.toString('latin1', Math.max(done, at - 2), at);
    const isInWord = (at: number) => /[A-Za-z]{2}$/.test(textBefore(at));
    const scan: Scan = { index, bytes, final, runs: new Map(), needs: new Map(), isInWord };

    for (let at = search(done); at >= 0; ) {
      const match = longestMatch(scan, at);
      if (match === 'more') {
        end = at;
        break;
      }
      if (match !== null) {
        pieces.push(bytes.subarray(done, match.from), Buffer.from(placeholder(match.label)));
        done = match.open === null ? match.to : runEnd(bytes, match.to, match.open);
        if (done === bytes.length) open = match.open;
      }
      at = search(match === null ? at + 1 : done);
    }
    if (!final && end === bytes.length) end = Math.max(done, end - index.anchors.begunAtEnd(bytes));

    before = textBefore(end).slice(-2);
    rest = Buffer.from(bytes.subarray(end));
    if (done === 0 && end === bytes.length) return bytes;
    return Buffer.concat([...pieces, bytes.subarray(done, end)]);
  };
}

/** Returns the longest secret that begins at a place, or `more` where the next chunk has to decide. */
function longestMatch(scan: Scan, at: number): Match | 'more' | null {
  let best: Match | null = null;
  for (const needle of scan.index.byTriple.get(tripleAt(scan.bytes, at)) ?? []) {
    const match = matchNeedle(scan, at, needle);
    if (match === 'more') return match;
    if (match !== null && (best === null || match.to > best.to)) best = match;
  }
  return best;
}

function matchNeedle(scan: Scan, at: number, needle: Needle): Match | 'more' | null {
  const { format, label } = needle;
  const from = endOfExact(scan, at, needle);
  if (from === null || from === 'more') return from;
  if (format === null) return { from: at, to: from, label, open: null };
  if (format.notInWord && scan.isInWord(at)) return null;

  const { bytes, final } = scan;
  const limit = from + format.limit;
  const end = endOfRun(scan, from, limit, format.alphabet);
  const isCut = end === bytes.length && end < limit && !final;
  if (format.needs !== undefined && !isCut && nextPlace(scan, from, format.needs) >= end) return null;
  const text = bytes.toString('latin1', from, end);
  if (format.named && !namedBegin.test(text)) return null;
  if (isCut) return 'more';
  const [kept, length] = partsOf(text, format);
  if (length === 0) return null;
  if (format.named && !isSecretName(needle.start + (/^[\w-]*/.exec(text)?.[0] ?? ''))) return null;
  const to = from + kept + length;
  const open = to === limit ? tailOf(format) : null;
  if (kept === 0) return { from: format.keepPrefix ? from : at, to, label, open };
  // A value that is known by itself keeps its own name.
  const inner = longestMatch(scan, from + kept);
  if (inner === 'more') return inner;
  return { from: from + kept, to, label, open, ...(inner && { ...inner, to: Math.max(to, inner.to) }) };
}

/** Returns where an exact text ends that begins here. In a value there may be newlines and colour codes. */
function endOfExact({ bytes, final }: Scan, at: number, { start, format }: Needle): number | 'more' | null {
  let end = at;
  for (let index = 0; index < start.length; ) {
    if (end >= bytes.length) return final ? null : 'more';
    if (bytes[end] === start[index]) {
      index += 1;
      end += 1;
      continue;
    }
    if (format !== null || index < 3) return null;
    const text = bytes.toString('latin1', end, end + longestGap);
    const gap = gapPattern.exec(text)?.[0] ?? '';
    if (gap === '') return !final && text.length < longestGap && cutGap.test(text) ? 'more' : null;
    end += gap.length;
  }
  return end;
}

/** Returns how many characters of a text are kept and how many after them are replaced; none if there is no secret. */
function partsOf(text: string, { rest, alphabet }: SecretFormat): readonly [number, number] {
  if (alphabet === tokenBytes) return [0, joinedLength(text, rest)];
  const match = rest.exec(text);
  const value = match?.groups?.quoted ?? match?.groups?.plain ?? match?.[0] ?? '';
  return [(match?.[0].length ?? 0) - value.length, value.length];
}

/** Returns the length of the token at the beginning of a text, with the newlines and colour codes in it; 0 if none. */
function joinedLength(text: string, rest: RegExp): number {
  let joined = '';
  let length = 0;
  for (let at = 0, gap = ''; ; at += gap.length) {
    const part = /^[\w.~+/=-]*/.exec(text.slice(at))?.[0] ?? '';
    // The next line may have nothing to do with the token, unless it looks as random.
    if (/[\r\n]|\\[rn]/.test(gap) && !/^(?=.*\d)(?=.*[A-Za-z])[\w-]{8}/.test(part)) return length;
    const size = rest.exec(joined + part)?.[0].length ?? 0;
    if (size > joined.length) length = at + size - joined.length;
    joined += part;
    if (size > 0 && size < joined.length) return length;
    at += part.length;
    gap = gapPattern.exec(text.slice(at, at + longestGap))?.[0] ?? '';
    if (gap === '') return length;
  }
}

/** Returns the end of the run of an alphabet from a place on, no further than the limit. */
function endOfRun({ bytes, runs }: Scan, from: number, limit: number, alphabet: Alphabet): number {
  const last = runs.get(alphabet);
  const isInside = last !== undefined && last.from <= from && from <= last.end;
  const end = runEnd(bytes, isInside ? last.end : from, alphabet, limit);
  if (!isInside) runs.set(alphabet, { from, end });
  else last.end = Math.max(end, last.end);
  return Math.min(end, limit);
}

function runEnd(bytes: Buffer, from: number, alphabet: Alphabet, limit = bytes.length): number {
  const stop = Math.min(limit, bytes.length);
  let end = from;
  while (end < stop && alphabet[bytes[end] ?? 0] === 1) end += 1;
  return end;
}

function nextPlace({ bytes, needs }: Scan, from: number, character: string): number {
  const need = needs.get(character) ?? -1;
  if (need >= from) return need;
  const place = bytes.indexOf(character, from, 'latin1');
  needs.set(character, place === -1 ? bytes.length : place);
  return place === -1 ? bytes.length : place;
}
