/** Reads the words of a program. The letters and the long names, parted by spaces, are options that take a value. */
export function readArgs(words: readonly string[], letters = '', long = ''): Args {
  return new Args(words, letters, long, false);
}

/** The same for a program that starts another: its options end at the first word that is none. */
export function readLeadingArgs(words: readonly string[], letters = '', long = ''): Args {
  return new Args(words, letters, long, true);
}

/** Options and other words of a program. */
export class Args {
  /** Options without a value: letters, and long names without dashes. */
  readonly flags = new Set<string>();
  readonly rest: string[] = [];
  private readonly values = new Map<string, string[]>();

  constructor(words: readonly string[], letters: string, long: string, stop: boolean) {
    let i = 0;
    for (; i < words.length; i++) {
      const word = words[i] ?? '';
      if (word === '--') {
        i++;
        break;
      }
      if (word.startsWith('--')) {
        const equals = word.indexOf('=');
        const name = word.slice(2, equals === -1 ? undefined : equals);
        if (equals !== -1) this.put(name, word.slice(equals + 1));
        else if (` ${long} `.includes(` ${name} `)) this.put(name, words[++i] ?? '');
        else this.flags.add(name);
      } else if (word.startsWith('-') && word.length > 1) {
        for (let at = 1; at < word.length; at++) {
          const letter = word[at] ?? '';
          if (!letters.includes(letter)) {
            this.flags.add(letter);
            continue;
          }
          this.put(letter, at + 1 < word.length ? word.slice(at + 1) : (words[++i] ?? ''));
          break;
        }
      } else if (stop) break;
      else this.rest.push(word);
    }
    for (; i < words.length; i++) this.rest.push(words[i] ?? '');
  }

  /** True if a flag is set, by letter or by long name; GNU programs also take abbreviated names. */
  has(...names: string[]): boolean {
    return names.some(
      (name) => this.flags.has(name) || this.values.has(name) || isAbbreviated(name, this.flags),
    );
  }

  value(...names: string[]): string | undefined {
    return this.all(...names).at(-1);
  }

  all(...names: string[]): readonly string[] {
    return names.flatMap((name) => this.values.get(name) ?? []);
  }

  private put(name: string, value: string): void {
    const values = this.values.get(name);
    if (values) values.push(value);
    else this.values.set(name, [value]);
  }
}

function isAbbreviated(name: string, flags: ReadonlySet<string>): boolean {
  if (name.length <= 3) return false;
  for (const flag of flags) if (flag.length > 1 && name.startsWith(flag)) return true;
  return false;
}
