export type TextCollector = ReturnType<typeof createTextCollector>;

const opening = /<(?:promise|response)/gi;
const around = 2_000;
const maxWindows = 200;
/** Replaces dropped text, on its own line so that no sentence or tag forms across the gap. */
const gap = '\n[...]\n';
/** Deltas per join: V8 needs 30 bytes more for each piece of a string that is not joined. */
const batch = 1_024;

/**
 * Collects the assistant's own text in bounded memory. Keeps whole blocks up to `maxChars`. Beyond that it drops the oldest text, except around every opening of a
 * completion tag, since a claim counts anywhere in the turn.
 */
export function createTextCollector({ maxChars = 1_000_000 } = {}) {
  let blocks: string[] = [];
  let pieces: string[] = [];
  let size = 0;
  let fresh = 0;

  function settle(): void {
    if (pieces.length === 0) return;
    blocks.push((blocks.pop() ?? '') + pieces.join(''));
    pieces = [];
  }

  function drop(): void {
    settle();
    blocks = keepNewest(blocks, maxChars / 2);
    size = blocks.reduce((sum, block) => sum + block.length, 0);
    fresh = 0;
  }

  return {
    /** Adds a block, or continues the last one with a delta. */
    add(text: string, delta = false): void {
      if (delta) {
        pieces.push(text);
        if (pieces.length >= batch) settle();
      } else {
        settle();
        if (blocks.at(-1) === '') blocks.pop();
        blocks.push(text);
      }
      size += text.length;
      fresh += text.length;
      // Only after enough new text, so that the work stays linear even where the windows fill the budget.
      if (size > maxChars && fresh > maxChars / 2) drop();
    },
    /** Takes back the last `count` blocks. */
    retract(count: number): void {
      settle();
      for (const block of blocks.splice(Math.max(0, blocks.length - count))) size -= block.length;
    },
    /** Returns the blocks in order, without dropped text. */
    blocks(): string[] {
      settle();
      return blocks.filter((block) => block !== '');
    },
  };
}

function keepNewest(blocks: readonly string[], budget: number): string[] {
  let room = budget;
  let windows = maxWindows;
  const texts: string[] = [];
  for (const block of blocks.toReversed()) {
    const cut = Math.max(0, block.length - room);
    room -= block.length - cut;
    const { text, count } = cut === 0 ? { text: block, count: 0 } : dropBefore(block, cut, windows);
    windows -= count;
    if (text !== '' || texts.length === 0) texts.push(text);
  }
  return texts.reverse();
}

/** Returns the block from `cut` on, and the text around the last `windows` openings before it. */
function dropBefore(block: string, cut: number, windows: number): { text: string; count: number } {
  const openings = [...block.matchAll(opening)].map(({ index }) => index).filter((at) => at < cut);
  const nearest = windows > 0 ? openings.slice(-windows) : [];
  const spans = nearest.map((at) => ({
    from: Math.max(0, at - around),
    to: Math.min(block.length, at + around),
  }));
  if (cut < block.length) spans.push({ from: Math.max(0, cut - around), to: block.length });

  const merged: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else merged.push(span);
  }
  const parts = merged.map(({ from, to }) => block.slice(from, to));
  if ((merged[0]?.from ?? 0) > 0) parts.unshift('');
  if ((merged.at(-1)?.to ?? block.length) < block.length) parts.push('');
  // Two parts or more make `join` copy: a lone slice would keep the whole block alive.
  return { text: parts.join(gap), count: nearest.length };
}
