import { type Args, readArgs } from '../argv.ts';
import type { Handler, Handlers } from '../call.ts';
import { unescapeText } from '../decode.ts';
import { asGlob, asText, DECODED, isPlain, PRIVATE, STAR, UNKNOWN } from '../marks.ts';
import { namesOnly } from '../private.ts';
import { isSecretName } from '../secret-names.ts';
import { contents, leavesNames } from './contents.ts';
import { byName } from './rules.ts';

/** Patterns of this many repetitions are tried on this much text at most: each makes a search longer by its length. */
const mostText = [50_000, 2000, 300];

/**
 * A pattern of grep and sed as JavaScript has it, or null where it is not simple enough to be tried on the text without
 * taking long. Brackets are of the basic kind (`\(`) unless the pattern is extended.
 */
function simplePattern(source: string, text: string, extended: boolean, flags = ''): RegExp | null {
  const pattern = extended ? asText(source) : asText(source).replace(/\\?[(){}+?|]/g, swapped);
  const repeats = (pattern.replace(/\\./g, '').match(/[*+?{]/g) ?? []).length;
  if (text.length > (mostText[repeats] ?? 0) || /\\\d|\\[<>'`]|\)[*+?{]/.test(pattern)) return null;
  try {
    return new RegExp(pattern.replace(/\[\[:(\w+):\]\]/g, named), flags);
  } catch {
    return null;
  }
}

function swapped(text: string): string {
  return text.startsWith('\\') ? text.slice(1) : `\\${text}`;
}

function named(_: string, name: string): string {
  return { alpha: '[A-Za-z]', digit: '\\d', alnum: '[A-Za-z0-9]', space: '\\s' }[name] ?? '.';
}

const grep: Handler = (call) => {
  const long = 'regexp file include exclude exclude-dir glob type max-count context color';
  const args = readArgs(call.words, 'efmABCdDgtT', long);
  const patterns = args.all('e', 'regexp');
  const [pattern = '', ...others] = args.rest;
  const paths = patterns.length > 0 ? args.rest : others;
  const sought = [...patterns, pattern].join(' ');
  if (args.has('pre')) call.script(args.value('pre') ?? '');
  const recursive = call.name !== 'grep' || args.has('r', 'R', 'recursive');
  const quiet = args.has('q', 'quiet', 'silent', 'l', 'files-with-matches', 'L', 'c', 'count');
  if (call.stdin?.includes(PRIVATE) && paths.length === 0) {
    const part = sought
      .trim()
      .toLowerCase()
      .replace(/^\^|=$/g, '');
    const secrets = Object.keys(call.context.env).filter(isSecretName);
    const match = secrets.some((name) => name.toLowerCase().includes(part));
    if (quiet || !(match || /key|token|secret|pass|cred|auth|api/i.test(sought))) return UNKNOWN;
    const instead = 'Ask for the variable by name in the program that needs it.';
    call.deny('credentials', 'looks for secrets in the environment', instead);
    return UNKNOWN;
  }
  if (quiet && !recursive) return UNKNOWN;
  const pick = (line: string) => selectLines(call.name, args, patterns[0] ?? pattern, line);
  if (args.has('o', 'only-matching') && leavesNames(call, paths, pick)) return UNKNOWN;
  const content = paths.length > 0 ? contents(call, paths, recursive) : '';
  for (const name of args.all('include', 'g', 'glob'))
    for (const folder of paths.length > 0 ? paths : ['.']) call.file('read', `${folder}/${asGlob(name)}`);
  const input = call.stdin ?? UNKNOWN;
  // What is left of all files is some of them, or those that have a word in their name.
  const [, word] = /^\^?(?:\\?\.)?([\w-]+)\$?$/.exec(asText(sought.trim())) ?? [];
  const some = word === undefined ? UNKNOWN : STAR + word + STAR;
  const text = args.has('v', 'invert-match') ? input : input.replaceAll(STAR, some);
  if (paths.length > 0) {
    const named = args.has('l', 'files-with-matches', 'L', 'files-without-match');
    if (named) return `${paths.map((path) => (recursive ? `${path}/${UNKNOWN}` : path)).join('\n')}\n`;
    return content.includes(PRIVATE) ? PRIVATE : UNKNOWN;
  }
  return pick(text);
};

function selectLines(name: string, args: Args, written: string, text: string): string {
  const fixed = name === 'fgrep' || args.has('F', 'fixed-strings');
  const extended = name !== 'grep' || args.has('E', 'P', 'extended-regexp', 'perl-regexp');
  const several = args.all('e', 'regexp').length > 1 || args.has('f', 'file', 'w', 'x');
  const source = fixed ? asText(written).replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : written;
  const pattern = several
    ? null
    : simplePattern(source, text, fixed || extended, args.has('i', 'ignore-case') ? 'i' : '');
  if (args.has('o', 'only-matching'))
    return pattern ? matchesOf(text, pattern) : isPlain(text) ? DECODED : text;
  return pattern ? pickLines(text, pattern, args.has('v', 'invert-match')) : text;
}

function pickLines(text: string, pattern: RegExp, inverted: boolean): string {
  return text
    .split('\n')
    .filter((line) => line === '' || !isPlain(line) || pattern.test(line) !== inverted)
    .join('\n');
}

function matchesOf(text: string, pattern: RegExp): string {
  const each = new RegExp(pattern, `${pattern.flags}g`);
  return text
    .split('\n')
    .flatMap((line) => (isPlain(line) ? (line.match(each) ?? []) : line))
    .join('\n');
}

/** One command of a script: its letter, whether lines are picked for it, and what stands after it. */
type Order = { readonly letter: string; readonly picky: boolean; readonly parts: readonly string[] };

/** Each address may look for its end to the end of the script. */
const longest = 8000;

/** Applies the script to a text that may hide a command; selected lines count as all lines. */
function applyOrders(input: string, orders: readonly Order[], extended: boolean, quiet: boolean): string {
  let text = input;
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
    const lines = letter === 's' ? substitute(text, parts, extended, quiet) : translate(text, from, to);
    if (lines === null || /[em]/.test(flags)) return DECODED;
    text = picky ? `${text}\n${lines}` : lines;
  }
  return text;
}

function substitute(
  text: string,
  [from = '', to = '', flags = '']: readonly string[],
  extended: boolean,
  quiet: boolean,
): string | null {
  const patternFlags = (flags.includes('g') ? 'g' : '') + (/i/i.test(flags) ? 'i' : '');
  const pattern = simplePattern(from, text, extended, patternFlags);
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

function translate(text: string, from: string, to: string): string {
  const [old, fresh] = [unescapeText(from), unescapeText(to)];
  return [...text].map((char) => (old.includes(char) ? (fresh[old.indexOf(char)] ?? char) : char)).join('');
}

function ordersOf(source: string): Order[] {
  const script = asText(source);
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

const sed: Handler = (call) => {
  const args = readArgs(call.words, 'efl', 'expression file line-length');
  const files = args.all('f', 'file');
  const expressions = [...args.all('e', 'expression'), ...files.map((path) => call.content(path))];
  const scripts = expressions.length > 0 ? expressions : args.rest.slice(0, 1);
  const paths = expressions.length > 0 ? args.rest : args.rest.slice(1);
  if (scripts.some((script) => script.length > longest)) throw new RangeError('too long a script to follow');
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
  if (inPlace) return call.files('write', paths.filter(Boolean));
  const edit = (text: string) =>
    applyOrders(text, orders, args.has('E', 'r', 'regexp-extended'), args.has('n', 'quiet', 'silent'));
  if (leavesNames(call, paths, edit)) return UNKNOWN;
  const text = contents(call, paths);
  // Without their values, variables are no secret.
  if (
    orders.some(({ letter, parts }) => letter === 's' && parts[0] === '=.*' && !/[&\\]/.test(parts[1] ?? ''))
  )
    return namesOnly(text, call.context);
  return edit(text);
};

export const patterns: Handlers = byName({
  'grep egrep fgrep rg ag ack': grep,
  'sed gsed': sed,
});
