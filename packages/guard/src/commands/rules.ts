import { askPerson } from '../categories.ts';
import { shown, UNKNOWN } from '../marks.ts';
import type { Call, Category, Handler, Handlers } from '../model.ts';

/** Denied whatever its words are, but for a question about itself. */
export function always(category: Category, what: string, instead = askPerson): Handler {
  return (call) => {
    if (
      call.words.length > 0 &&
      call.words.every((word) => /^(--version|--help|-h|-V|version|help)$/.test(word))
    )
      return UNKNOWN;
    call.deny(category, what, instead);
  };
}

/** Denied when its words match, as one line of words that a shell has already taken apart. */
export function when(pattern: RegExp, category: Category, what: string, instead = askPerson): Handler {
  return (call) => {
    if (pattern.test(call.words.map(shown).join(' ')) && !asksHelp(call)) call.deny(category, what, instead);
  };
}

/** `kubectl delete --help` only prints; what stands after `--` is for another program. */
export function asksHelp({ words }: Call): boolean {
  const at = words.findIndex((word) => /^--?help$/.test(word));
  return at !== -1 && !words.slice(0, at).includes('--');
}

/** A rule over the words of a program as one line; what to do instead is to ask a person if not given. */
export type LineRule = readonly [pattern: RegExp, category: Category, what: string, instead?: string];

/** Denies each thing that the rules find in the words of a program. */
export function denyLines(call: Call, words: readonly string[], rules: readonly LineRule[]): void {
  const line = words.map(shown).join(' ');
  for (const [pattern, category, what, instead = askPerson] of rules)
    if (pattern.test(line)) call.deny(category, what, instead);
}

/** Only looks when its words match; else as the handler says. */
export function unless(pattern: RegExp, handler: Handler): Handler {
  return (call) => (pattern.test(call.words.map(shown).join(' ')) ? UNKNOWN : handler(call));
}

/** A table with one entry for each program, of one that has several names in a key, parted by spaces. */
export function byName(table: Handlers): Handlers {
  return Object.fromEntries(
    Object.entries(table).flatMap(([names, handler]) => names.split(' ').map((name) => [name, handler])),
  );
}
