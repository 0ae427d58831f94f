import { stringEnd } from './json-error.ts';

const deepest = 100;
const shownChars = 80;

/**
 * What a parser lets pass and no reader of the file would see: a name that stands twice in one object, of which the
 * last counts, and nesting that no program of ours could print. Null where there is none. The text has to be JSON.
 */
export function jsonFormProblem(text: string): string | null {
  /** The names of each object that is open; null for a list. */
  const open: (Set<string> | null)[] = [];
  let wantsName = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      const names = open.at(-1);
      if (names && wantsName) {
        const name: string = JSON.parse(text.slice(at, end));
        if (names.has(name)) return `has the name ${shown(name)} twice in one object (${lineOf(text, at)})`;
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

function shown(name: string): string {
  return JSON.stringify(name.length > shownChars ? `${name.slice(0, shownChars)}…` : name);
}

function lineOf(text: string, at: number): string {
  return `line ${text.slice(0, at).split('\n').length}`;
}
