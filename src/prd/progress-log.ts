/** Whether a text lost most of what it said: it may be curated and added to, but not emptied. */
export function lostProgress(before: string, after: string | null): boolean {
  const lines = linesOf(before);
  const left = new Set(linesOf(after ?? ''));
  return lines.filter((line) => left.has(line)).length * 2 < lines.length;
}

/** What was lost, and after it what is new. */
export function mergedProgress(before: string, after: string | null): string {
  const known = new Set(linesOf(before));
  const fresh = (after ?? '').split('\n').filter((line) => line.trim() !== '' && !known.has(line.trim()));
  return fresh.length === 0 ? before : `${before.trimEnd()}\n\n${fresh.join('\n')}\n`;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
