/** Puts a text on one line without control characters, cut to `max` characters. */
export function oneLine(text: string, max = 200): string {
  const line = text.slice(0, max * 4).replace(/[\s\p{Cc}]+/gu, ' ');
  return shorten(line.trim(), max);
}

/** Cuts a text to `max` characters, never within one, with an ellipsis at the end. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Returns a count with its noun: `1 file`, `2 files`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
