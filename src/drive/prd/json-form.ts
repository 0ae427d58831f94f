import { stringEnd } from '../../core/json-error.ts';
import { shorten } from '../../core/text.ts';

const deepest = 100;
const maxNameChars = 80;

/**
 * Finds what a parser accepts and no reader of the file notices: a name that occurs twice in one object, of which the
 * last counts, and nesting that is too deep to print. Returns null if there is none. The text has to be JSON.
 */
export function jsonFormProblem(text: string): string | null {
  /** Names of each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  let wantsName = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      const names = open.at(-1);
      if (names && wantsName) {
        const name: string = JSON.parse(text.slice(at, end));
        if (names.has(name))
          return `has the name ${JSON.stringify(shorten(name, maxNameChars))} twice in one object (${lineOf(text, at)})`;
        names.add(name);
        wantsName = false;
      }
      at = end - 1;
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : null);
      if (open.length > deepest) return `is nested deeper than ${deepest} levels (${lineOf(text, at)})`;
      wantsName = char === '{';
    } else if (char === '}' || char === ']') {
      open.pop();
      wantsName = false;
    } else if (char === ',') {
      wantsName = open.at(-1) !== null;
    }
  }
  return null;
}

function lineOf(text: string, at: number): string {
  return `line ${text.slice(0, at).split('\n').length}`;
}
