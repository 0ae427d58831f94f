import { isPlain, UNKNOWN } from '../marks.ts';

export function outside(masked: string): string {
  let depth = 0;
  return masked.replace(/./gs, (char) => {
    if ('([{'.includes(char)) depth++;
    const visible = depth > 0 ? ' ' : char;
    if (')]}'.includes(char)) depth--;
    return visible;
  });
}

export function backwards(text: string): string {
  return [...text].reverse().join('');
}

export function filled(format: string, places: RegExp, texts: readonly string[]): string {
  let i = 0;
  return format.replace(places, () => texts[i++] ?? UNKNOWN);
}

/** Text given by the numbers of its characters, as in `map(chr, [114, 109])`. */
export function characters(source: string): string | null {
  const [, numbers] = /\[\s*(\d+(?:\s*,\s*\d+)*)\s*(?:,\s*)?\]/.exec(source) ?? [];
  if (numbers === undefined || !/\bchr\b|^\s*(\.\.\.)?\[/.test(source)) return null;
  return String.fromCharCode(...numbers.split(',').map(Number));
}

export function percent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function decoded(text: string, decode: (text: string) => string): string {
  return isPlain(text) ? decode(text) : UNKNOWN;
}

export function joinPaths(parts: readonly string[]): string {
  return parts.reduce(
    (path, part) => (part.startsWith('/') ? part : path === '' ? part : `${path}/${part}`),
    '',
  );
}
