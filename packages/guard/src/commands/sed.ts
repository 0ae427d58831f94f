import { readArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { unescapeText } from '../decode.ts';
import { asText, DECODED, isPlain, UNKNOWN } from '../marks.ts';
import { namesOnly } from '../private.ts';
import { contents, leavesNames } from './contents.ts';
import { simplePattern } from './regex.ts';
import { byName } from './rules.ts';

/** One command of a script: its letter, whether lines are picked for it, and what stands after it. */
type Order = { readonly letter: string; readonly picky: boolean; readonly parts: readonly string[] };

/** Each address may look for its end to the end of the script. */
const longest = 8000;

/** What the script makes of the text, where it may uncover a command; picked lines count as all of them. */
function edited(given: string, orders: readonly Order[], extended: boolean, quiet: boolean): string {
  let text = given;
  for (const { letter, picky, parts } of orders) {
    const [from = '', to = '', flags = ''] = parts;
    if (letter === 's' && /^[$^]$/.test(from)) {
      text = text.replace(/^(.+)$/gm, (line) => (from === '^' ? to + line : line + to));
      continue;
    }
    if (/[aic]/.test(letter)) text = `${text}\n${from.replace(/^\\\s*/, '')}\n`;
    if (letter === 's' && /^\^?\.\*\$?$/.test(from) && text.includes(UNKNOWN) && !/&|\\\d/.test(to))
      text = `${text}\n${unescapeText(to).replace(/\\(.)/g, '$1')}\n`;
    if (!/[sy]/.test(letter) || !isPlain(text)) continue;
    const lines = letter === 's' ? substituted(text, parts, extended, quiet) : translated(text, from, to);
    if (lines === null || /[em]/.test(flags)) return DECODED;
    text = picky ? `${text}\n${lines}` : lines;
  }
  return text;
}

function substituted(
  text: string,
  [from = '', to = '', flags = '']: readonly string[],
  extended: boolean,
  quiet: boolean,
): string | null {
  const pattern = simplePattern(
    from,
    text,
    extended,
    (flags.includes('g') ? 'g' : '') + (/i/i.test(flags) ? 'i' : ''),
  );
  if (pattern === null || /\\[ULEul]|\\\n/.test(to) || /\d/.test(flags)) return null;
  const by = to.replaceAll('$', '$$$$').replace(/\\(\d)|\\(.)|&/g, (whole, group, char) => {
    if (group !== undefined) return `$${group}`;
    if (whole === '&') return '$&';
    return char === 'n' ? '\n' : char;
  });
  const lines = text.split('\n').map((line) => ({ line, changed: line.replace(pattern, by) }));
  return lines
    .filter(({ line, changed }) => !quiet || line !== changed)
    .map(({ changed }) => changed)
    .join('\n');
}

function translated(text: string, from: string, to: string): string {
  const [old, fresh] = [unescapeText(from), unescapeText(to)];
  return [...text].map((char) => (old.includes(char) ? (fresh[old.indexOf(char)] ?? char) : char)).join('');
}

function ordersOf(written: string): Order[] {
  const script = asText(written);
  const orders: Order[] = [];
  const address = /(?:\d+|\$|\/(?:[^/\\\n]|\\.)*\/I?|\\(\W)(?:(?!\1)[^\\\n]|\\.)*\1)?(?:[,~]\+?~?)?/y;
  let at = 0;
  const rest = (stop: RegExp): string => {
    stop.lastIndex = at;
    const text = stop.exec(script)?.[0] ?? '';
    at += text.length;
    return text;
  };
  while (at < script.length) {
    rest(/[\s;{}]*/y);
    const start = at;
    while (rest(address) !== '');
    const picky = at > start;
    rest(/[\s!]*/y);
    const letter = script[at++] ?? '';
    if (letter === 's' || letter === 'y') {
      const mark = script[at++] ?? '';
      const parts = [upTo(script, at, mark)];
      parts.push(upTo(script, at + (parts[0]?.length ?? 0) + 1, mark));
      at += (parts[0]?.length ?? 0) + (parts[1]?.length ?? 0) + 2;
      const flags = rest(/[gpiIeM\d]*(?:w[^\n]*)?/y);
      orders.push({ letter, picky, parts: [...parts, flags] });
    } else if (/[aicrRwWe:btT]/.test(letter)) {
      const text = rest(/[bt:T]/.test(letter) ? /[^\n;}]*/y : /[^\n]*/y);
      orders.push({ letter, picky, parts: [text.trim()] });
    } else if (letter !== '') orders.push({ letter, picky, parts: [] });
  }
  return orders;
}

function upTo(script: string, start: number, mark: string): string {
  let at = start;
  while (at < script.length && script[at] !== mark) at += script[at] === '\\' ? 2 : 1;
  return script.slice(start, at);
}

export const sed: Handlers = byName({
  'sed gsed': (call) => {
    const args = readArgs(call.words, 'efl', 'expression file line-length');
    const files = args.all('f', 'file');
    const given = [...args.all('e', 'expression'), ...files.map((path) => call.content(path))];
    const scripts = given.length > 0 ? given : args.rest.slice(0, 1);
    const paths = given.length > 0 ? args.rest : args.rest.slice(1);
    if (scripts.some((script) => script.length > longest))
      throw new RangeError('too long a script to follow');
    const orders = scripts.flatMap(ordersOf);
    for (const { letter, parts } of orders) {
      const [first = '', second = '', flags = ''] = parts;
      if (letter === 'e' && first !== '') call.script(first);
      if (/[wW]/.test(letter)) call.file('write', first);
      if (/[rR]/.test(letter)) call.file('read', first);
      if (letter !== 's') continue;
      const [, target] = /w\s+(\S+)/.exec(flags) ?? [];
      if (target) call.file('write', target);
      if (/^\w*e/.test(flags)) call.script(second);
    }
    const inPlace =
      args.has('in-place') || call.words.some((word) => /^-[nErsuz]*i/.test(word) && !word.startsWith('--'));
    if (inPlace) {
      for (const path of paths.filter((path) => path !== '')) call.file('write', path);
      return '';
    }
    const edit = (text: string) =>
      edited(text, orders, args.has('E', 'r', 'regexp-extended'), args.has('n', 'quiet', 'silent'));
    if (leavesNames(call, paths, edit)) return UNKNOWN;
    const text = contents(call, paths);
    // Without their values, variables are no secret.
    if (
      orders.some(
        ({ letter, parts }) => letter === 's' && parts[0] === '=.*' && !/[&\\]/.test(parts[1] ?? ''),
      )
    )
      return namesOnly(text, call.shell.world.context);
    return edit(text);
  },
});
