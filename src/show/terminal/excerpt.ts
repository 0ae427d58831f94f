/** The first lines of a text that hold something; `lines` counts all of them, `hidden` those that come after. */
export type Excerpt = { readonly lines: number; readonly shown: readonly string[]; readonly hidden: number };

export type ExcerptLimits = { readonly lines: number; readonly chars: number };

/** Looks only at the lines that are shown, and counts the rest: a tool may print 50 MB. */
export function excerpt(text: string, limits: ExcerptLimits, ellipsis: string): Excerpt {
  const shown: string[] = [];
  let room = limits.chars;
  let at = 0;
  let seen = 0;
  while (at < text.length && shown.length < limits.lines && room > 0) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (/\S/.test(line)) {
      shown.push(line.length <= room ? line.trimEnd() : cut(line, room) + ellipsis);
      room -= line.length;
    }
    seen += 1;
    at = end + 1;
  }
  const rest = countLines(text, at);
  // Blank lines at the end are no reason to say that there is more.
  return { lines: seen + rest, shown, hidden: rest > 0 && hasInk(text, at) ? rest : 0 };
}

/** Lines of a text from a place on; a newline at the end begins no further one. */
export function countLines(text: string, from: number): number {
  let lines = 0;
  for (let at = from; at < text.length; lines += 1) {
    const newline = text.indexOf('\n', at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return lines;
}

function hasInk(text: string, from: number): boolean {
  const ink = /\S/g;
  ink.lastIndex = from;
  return ink.test(text);
}

/** Never through the middle of a surrogate pair. */
function cut(line: string, length: number): string {
  const half = line.slice(0, length);
  return /[\ud800-\udbff]$/.test(half) ? half.slice(0, -1) : half;
}
