/** A blank, an escaped character, a quoted or a plain part of a word. */
const part = /(\s+)|\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|[^\s\\'"]+/y;

/**
 * Splits text into words as a POSIX shell does: quotes keep words together, a backslash takes the next character as it is.
 * Expands nothing. Returns null if a quote or a backslash is left open.
 */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at = part.lastIndex) {
    part.lastIndex = at;
    const match = part.exec(text);
    if (match === null) return null;
    const [plain, blank, escaped, single, double] = match;
    if (blank === undefined) {
      // Inside double quotes a backslash is literal, unless one of these follows.
      word = (word ?? '') + (escaped ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? plain);
    } else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

/** Puts a word in single quotes, which every Unix shell and `splitWords` read alike. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
