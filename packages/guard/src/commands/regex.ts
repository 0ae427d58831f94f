import { asText } from '../marks.ts';

/** Patterns of this many repetitions are tried on this much text at most: each makes a search longer by its length. */
const mostText = [50_000, 2000, 300];

/**
 * A pattern of grep and sed as JavaScript has it, or null where it is not simple enough to be tried on the text without
 * taking long. Brackets are of the basic kind (`\(`) unless the pattern is extended.
 */
export function simplePattern(written: string, text: string, extended: boolean, flags = ''): RegExp | null {
  const pattern = extended ? asText(written) : asText(written).replace(/\\?[(){}+?|]/g, swapped);
  const repeats = (pattern.replace(/\\./g, '').match(/[*+?{]/g) ?? []).length;
  if (text.length > (mostText[repeats] ?? 0) || /\\\d|\\[<>'`]|\)[*+?{]/.test(pattern)) return null;
  try {
    return new RegExp(pattern.replace(/\[\[:(\w+):\]\]/g, named), flags);
  } catch {
    return null;
  }
}

function swapped(text: string): string {
  return text.startsWith('\\') ? text.slice(1) : `\\${text}`;
}

function named(_: string, name: string): string {
  return { alpha: '[A-Za-z]', digit: '\\d', alnum: '[A-Za-z0-9]', space: '\\s' }[name] ?? '.';
}
