import { type Anchors, createAnchors, tripleAt } from './anchors.ts';
import {
  type Env,
  placeholder,
  type SecretFormat,
  type SecretValue,
  secretFormats,
  secretValues,
} from './secrets.ts';

/** Takes secrets out of a stream; they may be cut by chunk borders. */
type RedactingStream = { push(chunk: Buffer): Buffer; end(): Buffer };

/** The one place that every text of an agent passes before a person or a disk sees it. */
export type Redactor = {
  text(text: string): string;
  stream(): RedactingStream;
};

type Alphabet = Uint8Array;
/** A secret as the scan sees it: exact bytes, or the prefix of a format. */
type Needle = { readonly start: Buffer; readonly placeholder: Buffer; readonly format: SecretFormat | null };
/** What gets replaced; `open` where the token may go on beyond what was looked at. */
type Match = {
  readonly from: number;
  readonly to: number;
  readonly needle: Needle;
  readonly open: Alphabet | null;
};

const empty = Buffer.alloc(0);

/** Finds the values of secret variables in `env`, in each way they may be written, and common token formats. */
export function createRedactor(env: Env): Redactor {
  const values = secretValues(env);
  const needles = [...values.map(valueNeedle), ...secretFormats.flatMap(formatNeedles)];
  const index = createIndex(needles);
  return {
    text(text) {
      if (!index.anchors.mayBeIn(text)) return text;
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

type NeedleIndex = { readonly anchors: Anchors; readonly byTriple: ReadonlyMap<number, readonly Needle[]> };

function createIndex(needles: readonly Needle[]): NeedleIndex {
  const byTriple = new Map<number, Needle[]>();
  for (const needle of needles) {
    const key = tripleAt(needle.start, 0);
    byTriple.set(key, [...(byTriple.get(key) ?? []), needle]);
  }
  return { anchors: createAnchors(needles.map(({ start }) => start)), byTriple };
}

/** One run over a stream. Holds back only what may still turn out to be the beginning of a secret. */
function createPass({ anchors, byTriple }: NeedleIndex): (chunk: Buffer, final: boolean) => Buffer {
  let held: Buffer = empty;
  /** The two bytes before `held`; zero where they were redacted. */
  let before = [0, 0];
  /** The rest of a long token that was replaced already. */
  let swallowing: Alphabet | null = null;

  return (chunk, final) => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const search = anchors.search(bytes);
    const pieces: Buffer[] = [];
    let done = 0;
    let hold = bytes.length;

    const byteAt = (at: number) => (at >= done ? bytes[at] : before[at + 2]) ?? 0;
    const swallow = (alphabet: Alphabet) => {
      done = runEnd(bytes, done, bytes.length, alphabet);
      swallowing = done === bytes.length ? alphabet : null;
    };

    if (swallowing !== null) swallow(swallowing);
    for (let at = search(done); at >= 0; ) {
      const match = longestMatch(bytes, at, byTriple.get(tripleAt(bytes, at)) ?? [], final, byteAt);
      if (match === 'more') {
        hold = at;
        break;
      }
      if (match === null) {
        at = search(at + 1);
        continue;
      }
      pieces.push(bytes.subarray(done, match.from), match.needle.placeholder);
      done = match.to;
      if (match.open !== null) swallow(match.open);
      at = search(done);
    }
    if (!final && hold === bytes.length) hold = Math.max(done, hold - anchors.begunAtEnd(bytes));

    before = [byteAt(hold - 2), byteAt(hold - 1)];
    held = Buffer.from(bytes.subarray(hold));
    if (done === 0 && hold === bytes.length) return bytes;
    return Buffer.concat([...pieces, bytes.subarray(done, hold)]);
  };
}

/** The longest secret that begins at `at`; `more` where the next chunk has to decide. */
function longestMatch(
  bytes: Buffer,
  at: number,
  needles: readonly Needle[],
  final: boolean,
  byteAt: (at: number) => number,
): Match | 'more' | null {
  let best: Match | null = null;
  for (const needle of needles) {
    if (needle.format?.notInWord && isLetter(byteAt(at - 1)) && isLetter(byteAt(at - 2))) continue;
    const match = matchNeedle(bytes, at, needle, final);
    if (match === 'more') return match;
    if (match !== null && (best === null || match.to > best.to)) best = match;
  }
  return best;
}

function matchNeedle(bytes: Buffer, at: number, needle: Needle, final: boolean): Match | 'more' | null {
  const { start, format } = needle;
  const present = Math.min(start.length, bytes.length - at);
  if (!beginsWith(bytes, at, start, present)) return null;
  if (present < start.length) return final ? null : 'more';

  const from = at + start.length;
  if (format === null) return { from: at, to: from, needle, open: null };
  const cap = from + format.limit;
  const alphabet = alphabetOf(format.alphabet);
  const end = runEnd(bytes, from, Math.min(cap, bytes.length), alphabet);
  if (end === bytes.length && end < cap && !final) return 'more';
  if (format.holds !== undefined && !holdsByte(bytes, from, end, format.holds)) return null;
  const rest = format.rest.exec(bytes.toString('latin1', from, end));
  if (rest === null) return null;
  const to = from + rest[0].length;
  return { from: format.keepPrefix ? from : at, to, needle, open: to === cap ? alphabet : null };
}

/** A loop, since most differ in the fourth byte and a call of `compare` costs more than that. */
function beginsWith(bytes: Buffer, at: number, start: Buffer, length: number): boolean {
  for (let offset = 0; offset < length; offset += 1) {
    if (bytes[at + offset] !== start[offset]) return false;
  }
  return true;
}

function runEnd(bytes: Buffer, from: number, to: number, alphabet: Alphabet): number {
  let end = from;
  while (end < to && alphabet[bytes[end] ?? 0] === 1) end += 1;
  return end;
}

function holdsByte(bytes: Buffer, from: number, to: number, byte: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] === byte) return true;
  return false;
}

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

function valueNeedle({ label, value }: SecretValue): Needle {
  return { start: Buffer.from(value), placeholder: Buffer.from(placeholder(label)), format: null };
}

function formatNeedles(format: SecretFormat): Needle[] {
  const replacement = Buffer.from(placeholder(format.label));
  return format.prefixes.map((prefix) => ({ start: Buffer.from(prefix), placeholder: replacement, format }));
}

const alphabets = new Map<string, Alphabet>();

/** Worked out when the first token of the kind comes by: that takes longer than all the rest of a redactor. */
function alphabetOf(members: string): Alphabet {
  const known = alphabets.get(members);
  if (known !== undefined) return known;
  const pattern = new RegExp(`[${members}]`);
  const alphabet = Uint8Array.from({ length: 256 }, (_, byte) =>
    Number(pattern.test(String.fromCharCode(byte))),
  );
  alphabets.set(members, alphabet);
  return alphabet;
}
