import { asGlob, isOpaque } from '../marks.ts';
import { argumentsAt, type Code, endOf } from './code.ts';
import { evaluate, listOf } from './values.ts';

/** Longer lists and longer code would take long; the start of a list says enough. */
const mostRounds = 12;
const longest = 8000;

/** The names that loops give to their items and functions to what they are called with, round by round. */
export function rounds(code: Code): [string, string][][] {
  const loops = code.source.length > longest ? [] : loopsIn(code);
  const count = Math.min(mostRounds, Math.max(0, ...loops.map(({ items }) => items.length)));
  return Array.from({ length: count }, (_, i) =>
    loops.map(({ name, items }): [string, string] => [name, items[Math.min(i, items.length - 1)] ?? '']),
  );
}

type Loop = { readonly name: string; readonly items: readonly string[] };

function loopsIn(code: Code): Loop[] {
  const { masked, source } = code;
  const over = [
    ...masked.matchAll(/\bfor(?:each)?\s*\(?\s*(?:const|let|var|my)?\s*[$@]?([A-Za-z_]\w*)\s+(?:in|of)\s+/g),
  ].map(({ index, 0: head, 1: name = '' }) => {
    const start = index + head.length;
    return { name, items: itemsOf(code, source.slice(start, endOf(masked, start, ':;\n'))) };
  });
  const applied = [
    ...masked.matchAll(
      /(\[[^\]]*\]|\w+)\.(?:forEach|map)\(\s*(?:async\b\s*)?\(?\s*([A-Za-z_]\w*)\s*\)?\s*=>/g,
    ),
  ].map(({ index, 1: list = '', 2: name = '' }) => ({
    name,
    items: itemsOf(code, source.slice(index, index + list.length)),
  }));
  const walked = [...masked.matchAll(/\bfor\s+(\w+)\s*,\s*\w+\s*,\s*\w+\s+in\s+os\.walk\s*\(/g)].map(
    ({ index, 0: head, 1: name = '' }) => ({
      name,
      items: argumentsAt(code, index + head.length)
        .slice(0, 1)
        .map((arg) => evaluate(code, arg))
        .filter((item) => item !== '' && !isOpaque(item)),
    }),
  );
  return [...over, ...applied, ...walked, ...parameters(code)].filter(({ items }) => items.length > 0);
}

const functions =
  /\b(?:def|function)\s+(\w+)\s*\(([^()]*)\)|\b(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?\(?([\w\s,]*)\)?\s*=>/g;

function parameters(code: Code): Loop[] {
  return [...code.masked.matchAll(functions)].slice(0, mostRounds).flatMap((match) => {
    const [head, name = match[3] ?? '', list = match[4] ?? ''] = match;
    const calls = [...code.masked.matchAll(new RegExp(`(?<![.\\w])${name}\\s*\\(`, 'g'))]
      .filter(({ index }) => index < match.index || index >= match.index + head.length)
      .slice(0, mostRounds)
      .map((call) => argumentsAt(code, call.index + call[0].length).map((arg) => evaluate(code, arg)));
    return list.split(',').map((parameter, i) => ({
      name: /\w+/.exec(parameter)?.[0] ?? '',
      items: calls.map((args) => args[i] ?? '').filter((item) => item !== '' && !isOpaque(item)),
    }));
  });
}

/** Returns the items of a loop: a list, a variable that holds one, or the matches of a glob. */
function itemsOf(code: Code, text: string): string[] {
  const [, name] = /^\s*([A-Za-z_]\w*)(?:\.values\(\))?\s*$/.exec(text) ?? [];
  if (name !== undefined) {
    const [head] = new RegExp(`(?:^|[\\s;])${name}\\s*=\\s*(?=[[({])`).exec(code.masked) ?? [];
    if (head === undefined) return [];
    const start = code.masked.indexOf(head) + head.length;
    return itemsOf(code, code.source.slice(start, endOf(code.masked, start + 1, '') + 1));
  }
  const files = /^\s*(?:\w+\.)*i?glob(?:Sync)?\s*\(/.test(text) ? [asGlob(evaluate(code, text))] : [];
  // Of a table the values count.
  const list = /^\s*\{/.test(text)
    ? `[${text
        .trim()
        .slice(1, -1)
        .replace(/(["'])[^"']*\1\s*:/g, '')}]`
    : text.replace(/\s+if\b[^\])]*$/, '');
  return (listOf(code, list) ?? files).filter((item) => item !== '' && !isOpaque(item));
}
