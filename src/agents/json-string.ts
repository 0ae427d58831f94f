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

/** Measures the string whose first byte, after its quote, is at `from`; null where it has no end. */
export function measureString(bytes: Buffer, from: number, headBytes: number): StringFigures | null {
  const headFrom = from + headBytes;
  let headEnd = from;
  let chars = 0;
  let newlines = 0;
  let atNewline = false;
  for (let at = from; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      const head = bytes.toString('utf8', from, at <= headFrom ? at : headEnd);
      const lines = newlines + (atNewline || chars === 0 ? 0 : 1);
      return { end: at, head: withoutEscapes(head), chars, lines };
    }
    if (at <= headFrom) headEnd = at;
    atNewline = false;
    if (byte === backslash) {
      const next = bytes[at + 1];
      atNewline = next === letterN;
      if (atNewline) newlines += 1;
      chars += 1;
      at += next === letterU ? 6 : 2;
    } else if (byte < 0x80) {
      chars += 1;
      at += 1;
    } else {
      // Four bytes of UTF-8 are two characters of a string; the others that follow the first are none of their own.
      chars += byte >= 0xf0 ? 2 : 1;
      at += byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    }
  }
  return null;
}

function withoutEscapes(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
