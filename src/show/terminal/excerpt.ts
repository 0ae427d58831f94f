/** The first lines of a text that are not blank; `lines` counts all of them, `more` those that follow. */
export type Excerpt = { readonly lines: number; readonly first: readonly string[]; readonly more: number };

export type ExcerptLimits = { readonly lines: number; readonly chars: number };

/** Looks only at the lines that are shown, and counts the rest: a tool may print 50 MB. */
export function excerpt(text: string, limits: ExcerptLimits, ellipsis: string): Excerpt {
  const first: string[] = [];
  let room = limits.chars;
  let at = 0;
  let count = 0;
  while (at < text.length && first.length < limits.lines && room > 0) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (/\S/.test(line)) {
      first.push(line.length <= room ? line.trimEnd() : cutAt(line, room) + ellipsis);
      room -= line.length;
    }
    count += 1;
    at = end + 1;
  }
  const following = countLines(text, at);
  // Blank lines at the end are no reason to say that there is more.
  return { lines: count + following, first, more: following > 0 && hasInk(text, at) ? following : 0 };
}

/** Counts the lines of a text from a place on; a newline at the end begins no further one. */
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

/** Cuts a line, but not a surrogate pair. */
function cutAt(line: string, length: number): string {
  const half = line.slice(0, length);
  return /[\ud800-\udbff]$/.test(half) ? half.slice(0, -1) : half;
}
