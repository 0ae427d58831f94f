/** Returns the candidate that is closest to a misspelt word, or null if none is close. Ignores case, `-`, `_` and `.`. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const name = plain(word);
  let best: string | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const other = plain(candidate);
    const limit = Math.max(1, Math.floor(Math.max(name.length, other.length) / 3));
    if (Math.abs(name.length - other.length) > limit) continue;
    const edits = lacksOnePiece(name, other) ? 1 : distance(name, other);
    if (edits > limit || edits >= bestDistance) continue;
    best = candidate;
    bestDistance = edits;
  }
  return best;
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_.]/g, '');
}

/** True if one is the other with one piece left out: people shorten names more often than they misspell them. */
function lacksOnePiece(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  let same = 0;
  while (same < short.length && short[same] === long[same]) same++;
  return long.endsWith(short.slice(same));
}

/** Counts the edits from `a` to `b`; swapping two neighbours is one edit. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(beforeLast, j - 2) + 1 : replaced;
      row.push(Math.min(at(row, j - 1) + 1, at(last, j) + 1, replaced, swapped));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
