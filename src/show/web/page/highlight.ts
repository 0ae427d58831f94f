/** A piece of a line, and what it is; a plain one has no kind. */
export type Token = { readonly text: string; readonly kind: '' | 'word' | 'string' | 'comment' | 'number' };

type Language = {
  readonly comment: string;
  readonly block?: readonly [string, string];
  readonly words: string;
};

const curly: Language = {
  comment: '//',
  block: ['/*', '*/'],
  words:
    'abstract as async await bool boolean break case catch chan char class const continue crate def default defer delete do double else enum export extends extern false final finally float fn for from func function go if impl implements import in inline instanceof int interface let long loop match mod module move mut namespace new nil null number of operator override package private protected pub public readonly ref return satisfies self short signed sizeof static string struct super switch template this throw throws trait true try type typedef typeof undefined union unsafe unsigned use using var virtual void volatile when where while yield',
};
const hash: Language = {
  comment: '#',
  words:
    'and as assert async await begin break case class continue def del do done elif else elsif end ensure esac except export exec False fi finally for from function global if import in is lambda local module nil None nonlocal not or pass raise require rescue return self set shift then True true false null try unless until when while with yield',
};
const sql: Language = {
  comment: '--',
  block: ['/*', '*/'],
  words:
    'add alter and as asc begin between by case create cascade check column commit constraint default delete desc distinct drop else end exists false foreign from group having if in index inner insert into is join key left like limit not null on or order outer primary references right rollback select set table then transaction true union unique update using values view when where with',
};
const markup: Language = { comment: '\0', block: ['<!--', '-->'], words: '' };

const languages: Readonly<Record<string, Language>> = {
  ...byEnding(curly, 'ts tsx js jsx mjs cjs mts cts json jsonc go rs c h cc cpp hpp cs java kt kts swift'),
  ...byEnding(curly, 'scala dart php css scss less proto zig groovy gradle'),
  ...byEnding(hash, 'py rb sh bash zsh yml yaml toml ini conf dockerfile makefile mk pl r ex exs tf nix'),
  ...byEnding(sql, 'sql lua hs elm'),
  ...byEnding(markup, 'html htm xml svg vue svelte'),
};

function byEnding(language: Language, endings: string): Record<string, Language> {
  return Object.fromEntries(endings.split(' ').map((ending) => [ending, language]));
}

/** Splits the lines of a file into tokens, by the ending of its name; a block comment may span lines. */
export function highlight(path: string, lines: readonly string[]): Token[][] {
  const ending = /([^./]+)$/.exec(path.toLowerCase())?.[1] ?? '';
  const language = Object.hasOwn(languages, ending) ? languages[ending] : undefined;
  if (language === undefined) return lines.map((text) => [{ text, kind: '' }]);
  const read = lineReader(language);
  return lines.map(read);
}

const longestLine = 2000;

function lineReader({ comment, block, words }: Language): (line: string) => Token[] {
  const [open, close] = block ?? ['\0', '\0'];
  const known = new Set(words.split(' '));
  const isCaseless = words === sql.words;
  const pieces = new RegExp(
    [
      `(?<comment>${escaped(comment)}.*|${escaped(open)}.*?(?:${escaped(close)}|$))`,
      '(?<string>"(?:[^"\\\\]|\\\\.)*"?|\'(?:[^\'\\\\]|\\\\.)*\'?|`(?:[^`\\\\]|\\\\.)*`?)',
      '(?<number>\\b\\d[\\w.]*)',
      '(?<word>[A-Za-z_$][\\w$]*)',
    ].join('|'),
    'g',
  );
  let isOpen = false;
  return (line) => {
    if (line.length > longestLine) return [{ text: line, kind: '' }];
    const tokens: Token[] = [];
    let at = 0;
    if (isOpen) {
      const end = line.indexOf(close);
      at = end === -1 ? line.length : end + close.length;
      tokens.push({ text: line.slice(0, at), kind: 'comment' });
      isOpen = end === -1;
    }
    pieces.lastIndex = at;
    for (const match of line.matchAll(pieces)) {
      const [text] = match;
      const kind = kindOf(match.groups ?? {});
      if (kind === 'word' && !known.has(isCaseless ? text.toLowerCase() : text)) continue;
      if (match.index > at) tokens.push({ text: line.slice(at, match.index), kind: '' });
      tokens.push({ text, kind });
      at = match.index + text.length;
      if (kind === 'comment' && text.startsWith(open)) isOpen = !text.slice(open.length).includes(close);
    }
    if (at < line.length || tokens.length === 0) tokens.push({ text: line.slice(at), kind: '' });
    return tokens;
  };
}

function kindOf(groups: Readonly<Record<string, string | undefined>>): Token['kind'] {
  if (groups.comment !== undefined) return 'comment';
  if (groups.string !== undefined) return 'string';
  return groups.number === undefined ? 'word' : 'number';
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Cuts tokens where a range begins and ends, so that the part within can be marked. */
export function markRange(
  tokens: readonly Token[],
  [from, to]: readonly [number, number],
): (Token & { readonly isMarked: boolean })[] {
  let at = 0;
  return tokens.flatMap(({ text, kind }) => {
    const start = at;
    at += text.length;
    const cuts = [0, from - start, to - start, text.length].map((cut) =>
      Math.max(0, Math.min(text.length, cut)),
    );
    return cuts.slice(1).flatMap((end, index) => {
      const begin = cuts[index] ?? 0;
      return end > begin ? [{ text: text.slice(begin, end), kind, isMarked: index === 1 }] : [];
    });
  });
}
