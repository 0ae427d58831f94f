import { type Args, readArgs } from '../argv.ts';
import type { Handler, Handlers } from '../call.ts';
import { asGlob, asText, DECODED, isPlain, PRIVATE, STAR, UNKNOWN } from '../marks.ts';
import { isSecretName } from '../secret-names.ts';
import { contents, leavesNames } from './contents.ts';
import { simplePattern } from './regex.ts';
import { byName } from './rules.ts';

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
    const found = Object.keys(call.shell.world.context.env).some(
      (name) =>
        isSecretName(name) &&
        name.toLowerCase().includes(
          sought
            .trim()
            .toLowerCase()
            .replace(/^\^|=$/g, ''),
        ),
    );
    if (quiet || !(found || /key|token|secret|pass|cred|auth|api/i.test(sought))) return UNKNOWN;
    call.deny(
      'credentials',
      'looks for secrets in the environment',
      'Ask for the variable by name in the program that needs it.',
    );
    return UNKNOWN;
  }
  if (quiet && !recursive) return UNKNOWN;
  const pick = (line: string) => selected(call.name, args, patterns[0] ?? pattern, line);
  if (args.has('o', 'only-matching') && leavesNames(call, paths, pick)) return UNKNOWN;
  const read = paths.length > 0 ? contents(call, paths, recursive) : '';
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
    return read.includes(PRIVATE) ? PRIVATE : UNKNOWN;
  }
  return pick(text);
};

function selected(name: string, args: Args, written: string, text: string): string {
  const fixed = name === 'fgrep' || args.has('F', 'fixed-strings');
  const extended = name !== 'grep' || args.has('E', 'P', 'extended-regexp', 'perl-regexp');
  const several = args.all('e', 'regexp').length > 1 || args.has('f', 'file', 'w', 'x');
  const source = fixed ? asText(written).replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : written;
  const pattern = several
    ? null
    : simplePattern(source, text, fixed || extended, args.has('i', 'ignore-case') ? 'i' : '');
  if (args.has('o', 'only-matching'))
    return pattern ? matchesOf(text, pattern) : isPlain(text) ? DECODED : text;
  return pattern ? picked(text, pattern, args.has('v', 'invert-match')) : text;
}

function picked(text: string, pattern: RegExp, inverted: boolean): string {
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

export const patterns: Handlers = byName({
  'grep egrep fgrep rg ag ack': grep,
});
