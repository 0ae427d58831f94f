/** Finds where any of many byte strings may begin, by their heads: the first three bytes, as one number. */
export type Anchors = {
  /** Returns the next head at or after `from`, or -1. */
  search(bytes: Uint8Array, from: number): number;
  /** Returns how many bytes at the end of the buffer, two at most, may be the beginning of a head. */
  begunAtEnd(bytes: Uint8Array): number;
};

export function createAnchors(heads: readonly number[]): Anchors {
  const hashes = new Uint8Array(0x8000);
  const strongHashes = new Uint8Array(0x10000);
  const beginnings = new Set<number>();
  for (const head of heads) {
    hashes[addByte(addByte(head & 0xff, (head >>> 8) & 0xff), head >>> 16)] = 1;
    strongHashes[strongHash(head)] = 1;
    beginnings.add(head & 0xff).add(0x10000 | (head & 0xffff));
  }
  return {
    // This loop sees every byte of a stream: one small table first, which stays in the cache of the processor.
    search(bytes, from) {
      let hash = addByte(bytes[from] ?? 0, bytes[from + 1] ?? 0);
      for (let at = from + 2; at < bytes.length; at += 1) {
        hash = addByte(hash, bytes[at] ?? 0);
        if (hashes[hash] === 1 && strongHashes[strongHash(tripleAt(bytes, at - 2))] === 1) return at - 2;
      }
      return -1;
    },
    begunAtEnd(bytes) {
      const [two = 0, one = 0] = bytes.subarray(-2);
      if (bytes.length > 1 && beginnings.has(0x10000 | two | (one << 8))) return 2;
      return beginnings.has(bytes.at(-1) ?? -1) ? 1 : 0;
    },
  };
}

/** Adds a byte to a weak and quick hash of the last three. */
function addByte(hash: number, byte: number): number {
  return ((hash << 5) ^ byte) & 0x7fff;
}

/** Hashes three bytes to sixteen bits; a hit has to be checked. */
function strongHash(triple: number): number {
  return Math.imul(triple, 0x9e3779b1) >>> 16;
}

/** Returns three bytes as one number. */
export function tripleAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}
