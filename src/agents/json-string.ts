/** What a string in a line of JSON holds, as far as it can be told without making it. */
export type StringFigures = {
  /** Where its closing quote is. */
  readonly end: number;
  /** The beginning of its text. */
  readonly head: string;
  /** Characters of the text, as `length` counts them. */
  readonly chars: number;
  readonly lines: number;
};

const quote = 0x22;
const backslash = 0x5c;
const letterN = 0x6e;
const letterU = 0x75;
/** Bytes that are one character and end nothing: all but the quote, the backslash and what is not ASCII. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte < 0x80 && byte !== quote && byte !== backslash),
);

/** Measures the string whose first byte, after its quote, is at `from`; null where it has no end. */
export function measureString(bytes: Buffer, from: number, headBytes: number): StringFigures | null {
  const headFrom = from + headBytes;
  let headEnd = -1;
  // How many bytes are there beyond one for each character.
  let extra = 0;
  let newlines = 0;
  let afterNewline = from;
  for (let at = from; at < bytes.length; ) {
    while (isPlain[bytes[at] ?? quote] === 1) at += 1;
    const byte = bytes[at];
    if (byte === undefined) return null;
    if (byte === quote) {
      const head = bytes.toString('utf8', from, at <= headFrom ? at : headEnd === -1 ? headFrom : headEnd);
      const lines = newlines + (at > afterNewline ? 1 : 0);
      return { end: at, head: withoutEscapes(head), chars: at - from - extra, lines };
    }
    const length = lengthAt(bytes, at, byte);
    // Four bytes of UTF-8 are two characters of a string.
    extra += length === 4 ? 2 : length - 1;
    if (headEnd === -1 && at + length > headFrom) headEnd = Math.min(at, headFrom);
    at += length;
    if (byte === backslash && bytes[at - 1] === letterN && length === 2) {
      newlines += 1;
      afterNewline = at;
    }
  }
  return null;
}

/** Bytes of an escape, or of a character that is not ASCII. */
function lengthAt(bytes: Buffer, at: number, byte: number): number {
  if (byte === backslash) return bytes[at + 1] === letterU ? 6 : 2;
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
}

function withoutEscapes(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
