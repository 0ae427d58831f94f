import { type Anchors, createAnchors } from './anchors.ts';
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

/** A secret as the scan sees it: an exact text, or the prefix of a format. Latin-1, one character per byte. */
type Needle = { readonly start: string; readonly placeholder: string; readonly format: SecretFormat | null };

type NeedleIndex = { readonly anchors: Anchors; readonly byHead: ReadonlyMap<string, readonly Needle[]> };

/** The part to replace; `open` where the token may go on beyond the characters looked at. */
type Match = {
  readonly from: number;
  readonly to: number;
  readonly needle: Needle;
  readonly open: SecretFormat | null;
};

/** Characters by which needles are looked up; no needle is shorter. */
const headLength = 3;
const empty = Buffer.alloc(0);

/** Finds the values of secret variables in `env`, in each way they may be written, and common token formats. */
export function createRedactor(env: Env): Redactor {
  const index = createIndex([...secretValues(env).map(valueNeedle), ...secretFormats.flatMap(formatNeedles)]);
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
  const byHead = new Map<string, Needle[]>();
  for (const needle of needles) {
    const head = needle.start.slice(0, headLength);
    byHead.set(head, [...(byHead.get(head) ?? []), needle]);
  }
  const anchors = createAnchors([...byHead.keys()].map((head) => Buffer.from(head, 'latin1')));
  return { anchors, byHead };
}

/** Returns a scan over one stream, which holds back only what may still turn out to be the beginning of a secret. */
function createPass(index: NeedleIndex): (chunk: Buffer, final: boolean) => Buffer {
  let rest: Buffer = empty;
  /** The last two characters before `rest`, without redacted ones. */
  let before = '';
  /** The format of a long token that was replaced already and may go on. */
  let open: SecretFormat | null = null;

  return (chunk, final) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const text = bytes.toString('latin1');
    const search = index.anchors.search(bytes);
    const pieces: string[] = [];
    let done = open === null ? 0 : tokenEnd(text, 0, open);
    if (done < text.length) open = null;
    let end = text.length;
    const textBefore = (at: number) => (done === 0 ? before : '') + text.slice(Math.max(done, at - 2), at);
    const scan = { text, final, isInWord: (at: number) => /[A-Za-z]{2}$/.test(textBefore(at)) };

    for (let at = search(done); at >= 0; ) {
      const match = longestMatch(scan, at, index.byHead.get(text.slice(at, at + headLength)) ?? []);
      if (match === 'more') {
        end = at;
        break;
      }
      if (match !== null) {
        pieces.push(text.slice(done, match.from), match.needle.placeholder);
        done = match.open === null ? match.to : tokenEnd(text, match.to, match.open);
        if (done === text.length) open = match.open;
      }
      at = search(match === null ? at + 1 : done);
    }
    if (!final && end === text.length) end = Math.max(done, end - index.anchors.begunAtEnd(bytes));

    before = textBefore(end).slice(-2);
    const isWhole = done === 0 && end === text.length;
    rest = Buffer.from(bytes.subarray(end));
    return isWhole ? bytes : Buffer.from([...pieces, text.slice(done, end)].join(''), 'latin1');
  };
}

/** The text to look through; `final` where no more comes. */
type Scan = { readonly text: string; readonly final: boolean; isInWord(at: number): boolean };

/** Returns the longest secret that begins at a place, or `more` where the next chunk has to decide. */
function longestMatch(scan: Scan, at: number, needles: readonly Needle[]): Match | 'more' | null {
  let best: Match | null = null;
  for (const needle of needles) {
    if (needle.format?.notInWord && scan.isInWord(at)) continue;
    const match = matchNeedle(scan, at, needle);
    if (match === 'more') return match;
    if (match !== null && (best === null || match.to > best.to)) best = match;
  }
  return best;
}

function matchNeedle({ text, final }: Scan, at: number, needle: Needle): Match | 'more' | null {
  const { start, format } = needle;
  const from = at + start.length;
  if (!text.startsWith(start, at))
    return !final && from > text.length && start.startsWith(text.slice(at)) ? 'more' : null;
  if (format === null) return { from: at, to: from, needle, open: null };
  const limit = from + format.limit;
  const end = tokenEnd(text.slice(0, limit), from, format);
  if (end === text.length && end < limit && !final) return 'more';
  const token = format.rest.exec(text.slice(from, end));
  if (token === null) return null;
  const to = from + token[0].length;
  return { from: format.keepPrefix ? from : at, to, needle, open: to === limit ? format : null };
}

function tokenEnd(text: string, from: number, { end }: SecretFormat): number {
  end.lastIndex = from;
  return end.exec(text)?.index ?? text.length;
}

function valueNeedle({ label, value }: SecretValue): Needle {
  return { start: latin1(value), placeholder: placeholder(label), format: null };
}

function formatNeedles(format: SecretFormat): Needle[] {
  return format.prefixes.map((start) => ({ start, placeholder: placeholder(format.label), format }));
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
