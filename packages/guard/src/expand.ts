import type { Word } from 'unbash';
import { expandFields } from './expand-parts.ts';
import type { Shell } from './model.ts';
import { withHome } from './parameters.ts';

export function expandWord(word: Word, shell: Shell): string[] {
  const text = literalText(word, shell);
  return text === null ? expandFields(word, shell, true) : [text];
}

/** The one text that a shell makes of a word where it does not split, as in an assignment or a redirection. */
export function expandText(word: Word, shell: Shell): string {
  return literalText(word, shell) ?? expandFields(word, shell, false).join(' ');
}

/** Returns the text of a word without expansions; null where there is something to expand. */
export function literalText(word: Word, shell: Shell): string | null {
  if (!word.parts) return withHome(word.text, word.value, shell);
  const [part, more] = word.parts;
  if (more) return null;
  if (part?.type === 'SingleQuoted') return part.value;
  const [inner, another] = part?.type === 'DoubleQuoted' ? part.parts : [];
  return inner?.type === 'Literal' && !another ? inner.value : null;
}
