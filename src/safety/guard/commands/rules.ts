import { shown, UNKNOWN } from '../marks.ts';
import type { Category, Handler } from '../model.ts';

export const askPerson = 'Leave it to a person.';

/** Denied whatever its words are, but for a question about itself. */
export function always(category: Category, what: string, instead = askPerson): Handler {
  return (call) => {
    if (
      call.words.length > 0 &&
      call.words.every((word) => /^(--version|--help|-h|-V|version|help)$/.test(word))
    )
      return UNKNOWN;
    call.act('deny', category, what, instead);
    return UNKNOWN;
  };
}

/** Denied when its words match, as one line of words that a shell has already taken apart. */
export function when(pattern: RegExp, category: Category, what: string, instead = askPerson): Handler {
  return (call) => {
    if (pattern.test(call.words.map(shown).join(' '))) call.act('deny', category, what, instead);
    return UNKNOWN;
  };
}
