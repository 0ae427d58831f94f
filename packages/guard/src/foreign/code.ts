export type Language = 'python' | 'js' | 'perl' | 'ruby' | 'php' | 'lua' | 'awk';

/** Code of another language, taken apart as far as needed: what is text, and what the names stand for. */
export type Code = {
  readonly language: Language;
  readonly source: string;
  /** The same code with the inside of texts and comments blank, so that only code is found in it. */
  readonly masked: string;
  readonly names: Map<string, string>;
  readonly home: string;
  /** How many characters may still be looked at; calls inside of calls are looked at again and again. */
  readonly work: { left: number };
};

export function workFor(source: string): Code['work'] {
  return { left: 500_000 + 20 * source.length };
}

/** Throws a RangeError, as a stack overflow does. */
export function spend({ work }: Code, characters: number): void {
  work.left -= characters;
  if (work.left < 0) throw new RangeError('this code takes too long to follow');
}

const special = /["'`#]|\/\/|\/\*|--/g;

export function mask(source: string, language: Language): string {
  const line = language === 'js' || language === 'php' ? '//' : language === 'lua' ? '--' : '#';
  let out = '';
  let i = 0;
  while (i < source.length) {
    special.lastIndex = i;
    const at = special.exec(source)?.index ?? source.length;
    out += source.slice(i, at);
    const char = source[at] ?? '';
    let stop = at + 1;
    if (source.startsWith(line, at) && !(line === '//' && source[at - 1] === ':')) {
      const end = source.indexOf('\n', at);
      stop = end === -1 ? source.length : end;
      out += ' '.repeat(stop - at);
    } else if (line === '//' && source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at + 2);
      stop = end === -1 ? source.length : end + 2;
      out += ' '.repeat(stop - at);
    } else if (language === 'python' && /["']/.test(char) && source.startsWith(char.repeat(3), at)) {
      const end = source.indexOf(char.repeat(3), at + 3);
      stop = end === -1 ? source.length : end + 3;
      out += `"${' '.repeat(Math.max(0, stop - at - 2))}"`;
    } else if (char === "'" || char === '"' || (char === '`' && language === 'js')) {
      stop = closing(source, at);
      out += char + ' '.repeat(Math.max(0, stop - at - 2)) + (stop - at > 1 ? char : '');
    } else out += char;
    i = stop;
  }
  return out;
}

export function closing(source: string, start: number): number {
  const quote = source[start];
  let i = start + 1;
  while (i < source.length && source[i] !== quote) i += source[i] === '\\' ? 2 : 1;
  return Math.min(i + 1, source.length);
}

/** Returns the end of a part that began at `start`: at `stop` outside brackets, or at the closing bracket. */
export function endOf(masked: string, start: number, stop: string): number {
  let depth = 0;
  for (let i = start; i < masked.length; i++) {
    const char = masked[i] ?? '';
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
    else if (depth === 0 && stop.includes(char)) return i;
    if (depth < 0) return i;
  }
  return masked.length;
}

export function argumentsAt(code: Code, start: number): string[] {
  const end = endOf(code.masked, start, '');
  spend(code, end - start);
  const parts: string[] = [];
  for (let i = start; i <= end; ) {
    const comma = Math.min(endOf(code.masked, i, ','), end);
    const text = code.source.slice(i, comma).trim();
    if (text !== '') parts.push(text);
    i = comma + 1;
  }
  return parts;
}
