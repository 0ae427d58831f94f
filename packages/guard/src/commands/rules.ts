import type { Call, Handler, Handlers } from '../call.ts';
import { askPerson } from '../categories.ts';
import { show } from '../marks.ts';
import type { Category } from '../model.ts';

/** Stands for any words of a program, but for a question about itself. */
export const always = /(?:)/;
const asksOfItself = /^(--version|--help|-h|-V|version|help)$/;

/** Denied when its words match, as one line of words that a shell has already taken apart. */
export function when(pattern: RegExp, category: Category, what: string, instead = askPerson): Handler {
  return (call) => {
    const { words } = call;
    const asks =
      pattern === always
        ? words.length > 0 && words.every((word) => asksOfItself.test(word))
        : asksHelp(call);
    if (!asks && pattern.test(words.map(show).join(' '))) call.deny(category, what, instead);
  };
}

/** Denies one thing to several programs, each when its words match. */
export function denying(
  category: Category,
  what: string,
  programs: Readonly<Record<string, RegExp>>,
  instead = askPerson,
): Handlers {
  return Object.fromEntries(
    Object.entries(programs).map(([names, pattern]) => [names, when(pattern, category, what, instead)]),
  );
}

/** `kubectl delete --help` only prints; what stands after `--` is for another program. */
export function asksHelp({ words }: Call): boolean {
  const at = words.findIndex((word) => /^--?help$/.test(word));
  return at !== -1 && !words.slice(0, at).includes('--');
}

/** A rule over the words of a program as one line; what to do instead is to ask a person if not given. */
export type LineRule = readonly [pattern: RegExp, category: Category, what: string, instead?: string];

export function denyLines(call: Call, words: readonly string[], rules: readonly LineRule[]): void {
  const line = words.map(show).join(' ');
  for (const [pattern, category, what, instead = askPerson] of rules)
    if (pattern.test(line)) call.deny(category, what, instead);
}

/**
 * Makes one table of several, with an entry for each name; a key may hold names parted by spaces. A program that stands
 * in several tables does what each of them says.
 */
export function byName(...tables: Handlers[]): Handlers {
  const all: Record<string, Handler> = {};
  for (const table of tables) {
    for (const [names, handler] of Object.entries(table))
      for (const name of names.split(' ')) all[name] = both(all[name], handler);
  }
  return all;
}

function both(first: Handler | undefined, second: Handler): Handler {
  if (first === undefined) return second;
  return (call) => {
    first(call);
    return second(call);
  };
}
