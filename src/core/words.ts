/**
 * Splits text into words as a POSIX shell does: quotes keep words together, a backslash takes the next character as it is.
 * Expands nothing. Returns null if a quote or a backslash is left open.
 */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === '\\' && quote !== "'") {
      const next = text[++index];
      if (next === undefined) return null;
      // Inside double quotes a backslash is literal, unless one of these follows.
      word = (word ?? '') + (quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next);
      continue;
    }
    if (quote !== null) {
      if (char === quote) quote = null;
      else word += char;
      continue;
    }
    if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
      continue;
    }
    if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word = (word ?? '') + char;
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  return words;
}

/** Puts a word in single quotes, which every Unix shell and `splitWords` read alike. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
