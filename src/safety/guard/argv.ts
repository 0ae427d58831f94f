/** The words of a program, read as most programs read them. */
export type Args = {
  /** Options without a value: letters, and long names without dashes. */
  readonly flags: ReadonlySet<string>;
  /** Options with a value, each as often as it was given. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly rest: readonly string[];
  /** Whether a flag was given by letter or by long name, which GNU programs take abbreviated too. */
  has(...names: string[]): boolean;
  value(...names: string[]): string | undefined;
  all(...names: string[]): readonly string[];
};

export type Grammar = {
  /** Letters that take a value, and long names that take one as the next word. */
  readonly letters?: string;
  readonly long?: readonly string[];
  /** Options end at the first word that is none: the rest is another command. */
  readonly stop?: boolean;
};

export function readArgs(
  words: readonly string[],
  { letters = '', long = [], stop = false }: Grammar = {},
): Args {
  const flags = new Set<string>();
  const values = new Map<string, string[]>();
  const rest: string[] = [];
  const put = (name: string, value: string) => values.set(name, [...(values.get(name) ?? []), value]);
  let i = 0;
  for (; i < words.length; i++) {
    const word = words[i] ?? '';
    if (word === '--') {
      i++;
      break;
    }
    if (word.startsWith('--')) {
      const [name = '', ...value] = word.slice(2).split('=');
      if (value.length > 0) put(name, value.join('='));
      else if (long.includes(name)) put(name, words[++i] ?? '');
      else flags.add(name);
    } else if (word.startsWith('-') && word.length > 1) {
      for (let at = 1; at < word.length; at++) {
        const letter = word[at] ?? '';
        if (!letters.includes(letter)) {
          flags.add(letter);
          continue;
        }
        put(letter, at + 1 < word.length ? word.slice(at + 1) : (words[++i] ?? ''));
        break;
      }
    } else if (stop) break;
    else rest.push(word);
  }
  rest.push(...words.slice(i));
  return {
    flags,
    values,
    rest,
    has: (...names) =>
      names.some((name) => flags.has(name) || values.has(name) || isAbbreviated(name, flags)),
    value: (...names) => names.flatMap((name) => values.get(name) ?? []).at(-1),
    all: (...names) => names.flatMap((name) => values.get(name) ?? []),
  };
}

function isAbbreviated(name: string, flags: ReadonlySet<string>): boolean {
  return name.length > 3 && [...flags].some((flag) => flag.length > 2 && name.startsWith(flag));
}
