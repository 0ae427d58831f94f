/** Returns the next position at or after `from` in one buffer, or -1. */
type AnchorSearch = (from: number) => number;

/** Finds where any of many byte strings may begin, by their first three bytes. */
export type Anchors = {
  search(bytes: Uint8Array): AnchorSearch;
  /** Returns how many bytes at the end of the buffer, two at most, may be the beginning of an anchor. */
  begunAtEnd(bytes: Uint8Array): number;
};

/** Flags in the table of pairs: the first two bytes of an anchor, its second and third. */
const firstTwo = 1;
const nextTwo = 2;

/** Builds a table of byte pairs, so that the search steps over four bytes at a time, whatever the number of strings. */
export function createAnchors(starts: readonly Uint8Array[]): Anchors {
  const pairs = new Uint8Array(0x10000);
  const triples = new Uint8Array(0x10000);
  const firstPairs = new Set<number>();
  const firstBytes = new Set<number>();
  for (const start of starts) {
    const triple = tripleAt(start, 0);
    pairs[triple & 0xffff] = (pairs[triple & 0xffff] ?? 0) | firstTwo;
    pairs[triple >>> 8] = (pairs[triple >>> 8] ?? 0) | nextTwo;
    triples[hashOf(triple)] = 1;
    firstPairs.add(triple & 0xffff);
    firstBytes.add(triple & 0xff);
  }

  function search(bytes: Uint8Array): AnchorSearch {
    const last = bytes.length - 3;
    const checkEach = (from: number, to: number) => {
      for (let at = from; at <= to; at += 1) if (triples[hashOf(tripleAt(bytes, at))] === 1) return at;
      return -1;
    };
    const words = alignedWords(bytes);
    if (words === null) return (from) => checkEach(from, last);
    const offset = words.byteOffset - bytes.byteOffset;
    // Of every three bytes, one pair is within a word, so words cover all positions from the one before them to two
    // before their end.
    const early = Math.min(offset - 2, last);
    const late = offset + words.length * 4 - 1;

    return (from) => {
      const first = checkEach(from, early);
      if (first >= 0) return first;
      const at = nextInWords(bytes, words, { pairs, triples }, from);
      return at >= 0 ? at : checkEach(Math.max(from, late), last);
    };
  }

  function begunAtEnd(bytes: Uint8Array): number {
    const size = bytes.length;
    const one = bytes[size - 1] ?? -1;
    const two = (bytes[size - 2] ?? -1) | (one << 8);
    if (size > 1 && firstPairs.has(two)) return 2;
    return firstBytes.has(one) ? 1 : 0;
  }

  return { search, begunAtEnd };
}

/** Returns the first anchor at or after `from` that shows in the words, or -1. This loop sees every byte of a stream. */
function nextInWords(
  bytes: Uint8Array,
  words: Uint32Array,
  { pairs, triples }: { readonly pairs: Uint8Array; readonly triples: Uint8Array },
  from: number,
): number {
  const offset = words.byteOffset - bytes.byteOffset;
  for (let word = Math.max(0, (from - offset) >> 2); word < words.length; word += 1) {
    const four = words[word] ?? 0;
    const low = pairs[four & 0xffff] ?? 0;
    const high = pairs[four >>> 16] ?? 0;
    if ((low | high) === 0) continue;
    const at = offset + word * 4;
    if (low & nextTwo && at > from && triples[hashOf(tripleAt(bytes, at - 1))] === 1) return at - 1;
    if (low & firstTwo && at >= from && triples[hashOf(four & 0xffffff)] === 1) return at;
    if (high & nextTwo && at + 1 >= from && triples[hashOf(four >>> 8)] === 1) return at + 1;
    const isLate = high & firstTwo && at + 2 >= from && at + 4 < bytes.length;
    if (isLate && triples[hashOf(tripleAt(bytes, at + 2))] === 1) return at + 2;
  }
  return -1;
}

/** Hashes three bytes to sixteen bits; a hit has to be checked. */
function hashOf(triple: number): number {
  return Math.imul(triple, 0x9e3779b1) >>> 16;
}

function tripleAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Null if there are none, and on a big-endian machine. */
function alignedWords(bytes: Uint8Array): Uint32Array | null {
  const lead = -bytes.byteOffset & 3;
  const count = (bytes.length - lead) >> 2;
  if (count < 1 || !isLittleEndian) return null;
  return new Uint32Array(bytes.buffer, bytes.byteOffset + lead, count);
}
