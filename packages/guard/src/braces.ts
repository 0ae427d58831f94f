/** Expands `{a,b}` and `{1..3}` in the source of one word, as a shell does before all else. */
export function expandBraces(source: string, limit: number): string[] | null {
  const brace = firstBrace(source);
  if (!brace) return [source];
  const { start, end, items } = brace;
  const before = source.slice(0, start);
  const rests = expandBraces(source.slice(end), limit);
  if (!rests || items.length * rests.length > limit) return null;
  const words: string[] = [];
  for (const item of items) {
    const inner = expandBraces(item, limit);
    if (!inner) return null;
    for (const middle of inner) for (const rest of rests) words.push(before + middle + rest);
    if (words.length > limit) return null;
  }
  return words;
}

function firstBrace(source: string): { start: number; end: number; items: string[] } | null {
  for (let start = skipTo(source, 0, '{'); start < source.length; start = skipTo(source, start + 1, '{')) {
    const items: string[] = [];
    let depth = 0;
    let from = start + 1;
    for (let at = start; at < source.length; at = next(source, at)) {
      const char = source[at];
      if (char === '{') depth++;
      if (char === ',' && depth === 1) {
        items.push(source.slice(from, at));
        from = at + 1;
      }
      if (char !== '}' || --depth > 0) continue;
      items.push(source.slice(from, at));
      const values = items.length > 1 ? items : range(items[0] ?? '');
      if (values) return { start, end: at + 1, items: values };
      break;
    }
  }
  return null;
}

function range(text: string): string[] | null {
  const match = /^(-?\d+|[a-z])\.\.(-?\d+|[a-z])(?:\.\.-?\d+)?$/i.exec(text);
  const [, from = '', to = ''] = match ?? [];
  if (!match) return null;
  const letters = /[a-z]/i.test(from);
  const first = letters ? from.charCodeAt(0) : Number(from);
  const last = letters ? to.charCodeAt(0) : Number(to);
  if (Math.abs(last - first) > 200) return [from, to];
  const step = last < first ? -1 : 1;
  return Array.from({ length: Math.abs(last - first) + 1 }, (_, i) => {
    const value = first + i * step;
    return letters ? String.fromCharCode(value) : String(value);
  });
}

function skipTo(source: string, from: number, char: string): number {
  let at = from;
  while (at < source.length && source[at] !== char) at = next(source, at);
  return at;
}

/** The position after one character, or after all of a quoted or substituted part. */
function next(source: string, at: number): number {
  const char = source[at];
  if (char === '\\') return at + 2;
  if (char === "'" || char === '"' || char === '`') {
    let end = at + 1;
    while (end < source.length && source[end] !== char) end += source[end] === '\\' && char !== "'" ? 2 : 1;
    return end + 1;
  }
  if (char === '$' && (source[at + 1] === '{' || source[at + 1] === '(')) {
    const close = source[at + 1] === '{' ? '}' : ')';
    const end = source.indexOf(close, at);
    return end === -1 ? source.length : end + 1;
  }
  return at + 1;
}
