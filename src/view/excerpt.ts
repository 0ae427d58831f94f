/** The first lines of a text that hold something; `lines` counts all of them, `hidden` the rest that holds something. */
export type Excerpt = { readonly lines: number; readonly shown: readonly string[]; readonly hidden: number };

export type ExcerptLimits = { readonly lines: number; readonly chars: number };

/** Linear in the text and free of copies of it, since a tool may print 50 MB. */
export function excerpt(text: string, limits: ExcerptLimits, ellipsis: string): Excerpt {
  const shown: string[] = [];
  const ink = /\S/g;
  let nextInk = -1;
  let room = limits.chars;
  let lines = 0;
  let hidden = 0;
  for (let at = 0; at < text.length; lines += 1) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    if (nextInk < at) {
      ink.lastIndex = at;
      nextInk = ink.exec(text)?.index ?? text.length;
    }
    if (nextInk < end && shown.length < limits.lines && room > 0) {
      const line = text.slice(at, end);
      shown.push(line.length <= room ? line.trimEnd() : cut(line, room) + ellipsis);
      room -= line.length;
    } else if (nextInk < end) {
      hidden += 1;
    }
    at = end + 1;
  }
  return { lines, shown, hidden };
}

/** Never through the middle of a surrogate pair. */
function cut(line: string, length: number): string {
  const half = line.slice(0, length);
  return /[\ud800-\udbff]$/.test(half) ? half.slice(0, -1) : half;
}
