export type Anchors = ReturnType<typeof createAnchors>;

/** Flags in the table of pairs: the first two bytes of a head, its second and third. */
const firstTwo = 1;
const nextTwo = 2;

/** Finds where any of many byte strings may begin, by their heads: the first three bytes, as one number. */
export function createAnchors(heads: readonly number[]) {
  const pairs = new Uint8Array(0x10000);
  const hashes = new Uint8Array(0x10000);
  const beginnings = new Set<number>();
  for (const head of heads) {
    pairs[head & 0xffff] = (pairs[head & 0xffff] ?? 0) | firstTwo;
    pairs[head >>> 8] = (pairs[head >>> 8] ?? 0) | nextTwo;
    hashes[hashOf(head)] = 1;
    beginnings.add(head & 0xff).add(0x10000 | (head & 0xffff));
  }
  return {
    /** Returns the next head at or after `from`, or -1. */
    // This loop sees every byte of a stream. Of three bytes in a row, one pair begins at an odd place. A read beyond the
    // end, even one in a whole stream, would make V8 check every other one, too.
    search(bytes: Uint8Array, from: number): number {
      for (let at = from + 1; at < bytes.length - 1; at += 2) {
        const flags = pairs[(bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)] ?? 0;
        if (flags === 0) continue;
        if (flags & nextTwo && hashes[hashOf(tripleAt(bytes, at - 1))] === 1) return at - 1;
        if (at + 2 === bytes.length) break;
        if (flags & firstTwo && hashes[hashOf(tripleAt(bytes, at))] === 1) return at;
      }
      return -1;
    },
    /** Returns how many bytes at the end of the buffer, two at most, may be the beginning of a head. */
    begunAtEnd(bytes: Uint8Array): number {
      const [two = 0, one = 0] = bytes.subarray(-2);
      if (bytes.length > 1 && beginnings.has(0x10000 | two | (one << 8))) return 2;
      return beginnings.has(bytes.at(-1) ?? -1) ? 1 : 0;
    },
  };
}

/** Hashes three bytes to sixteen bits; a hit has to be checked. */
function hashOf(triple: number): number {
  return Math.imul(triple, 0x9e3779b1) >>> 16;
}

export function tripleAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}
