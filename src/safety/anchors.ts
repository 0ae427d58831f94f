/** Looks through one buffer; gives the next position at or after `from`, or -1. */
export type AnchorSearch = (from: number) => number;

/** Where any of many byte strings (each of three bytes or more) may begin, told by their first three bytes. */
export type Anchors = {
  search(bytes: Uint8Array): AnchorSearch;
  /** How many bytes at the end of the buffer, two at most, may be the beginning of an anchor. */
  begunAtEnd(bytes: Uint8Array): number;
};

/** A table of byte pairs lets the search step over four bytes at a time, whatever the number of strings. */
export function createAnchors(starts: readonly Uint8Array[]): Anchors {
  const pairs = new Uint8Array(0x10000);
  const triples = new Uint8Array(0x8000);
  const firstPairs = new Set<number>();
  const firstBytes = new Set<number>();
  for (const start of starts) {
    pairs[pairAsRead(start, 0)] = 1;
    pairs[pairAsRead(start, 1)] = 1;
    triples[hashAt(start, 0)] = 1;
    firstPairs.add(tripleAt(start, 0) & 0xffff);
    firstBytes.add(start[0] ?? 0);
  }

  function search(bytes: Uint8Array): AnchorSearch {
    const last = bytes.length - 3;
    const checkEach = (from: number, to: number) => {
      for (let at = from; at <= to; at += 1) if (triples[hashAt(bytes, at)] === 1) return at;
      return -1;
    };
    const words = alignedWords(bytes);
    // Every three bytes hold one pair that stands in a word: a word tells about four positions, the first before it.
    const begin = words.byteOffset - bytes.byteOffset - 1;

    return (from) => {
      const early = checkEach(from, Math.min(begin - 1, last));
      if (early >= 0) return early;
      let word = nextWord(words, pairs, Math.max(0, (from - begin) >> 2));
      while (word < words.length) {
        const at = begin + word * 4;
        const found = checkEach(Math.max(from, at), Math.min(at + 3, last));
        if (found >= 0) return found;
        word = nextWord(words, pairs, word + 1);
      }
      return checkEach(Math.max(from, begin + word * 4), last);
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

/** The first word at or after `from` that holds a pair of an anchor; this loop sees every byte of a stream. */
function nextWord(words: Uint32Array, pairs: Uint8Array, from: number): number {
  let word = from;
  for (; word < words.length; word += 1) {
    const four = words[word] ?? 0;
    if (pairs[four & 0xffff] === 1 || pairs[four >>> 16] === 1) break;
  }
  return word;
}

/** The three bytes in fifteen bits: what it lets through has to be looked at closely. */
function hashAt(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 10) ^ ((bytes[at + 1] ?? 0) << 5) ^ (bytes[at + 2] ?? 0)) & 0x7fff;
}

export function tripleAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}

/** A pair in the byte order of this machine, as it stands in either half of a word. */
function pairAsRead(bytes: Uint8Array, at: number): number {
  return new Uint16Array(Uint8Array.from(bytes.subarray(at, at + 2)).buffer)[0] ?? 0;
}

function alignedWords(bytes: Uint8Array): Uint32Array {
  const lead = -bytes.byteOffset & 3;
  const count = Math.max(0, bytes.length - lead) >> 2;
  return count === 0 ? new Uint32Array() : new Uint32Array(bytes.buffer, bytes.byteOffset + lead, count);
}
