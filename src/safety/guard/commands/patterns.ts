import { isSecretName } from '../../secrets.ts';
import { readArgs } from '../argv.ts';
import { asGlob, asText, isPlain, PRIVATE, STAR, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';
import { contents } from './contents.ts';

const grep: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'efmABCdDgtT',
    long: [
      'regexp',
      'file',
      'include',
      'exclude',
      'exclude-dir',
      'glob',
      'type',
      'max-count',
      'context',
      'color',
    ],
  });
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
    call.act(
      'deny',
      'credentials',
      'looks for secrets in the environment',
      'Ask for the variable by name in the program that needs it.',
    );
    return UNKNOWN;
  }
  if (quiet && !recursive) return UNKNOWN;
  if (paths.length > 0) contents(call, paths, recursive);
  for (const name of args.all('include', 'g', 'glob'))
    for (const folder of paths.length > 0 ? paths : ['.']) call.file('read', `${folder}/${asGlob(name)}`);
  const input = call.stdin ?? UNKNOWN;
  // What is left of all files is some of them.
  const text = args.has('v', 'invert-match') ? input : input.replaceAll(STAR, UNKNOWN);
  if (paths.length > 0) {
    const named = args.has('l', 'files-with-matches', 'L', 'files-without-match');
    return named ? `${paths.map((path) => (recursive ? `${path}/${UNKNOWN}` : path)).join('\n')}\n` : UNKNOWN;
  }
  return args.has('o', 'only-matching') ? matchesOf(text, patterns[0] ?? pattern) : text;
};

/** What `grep -o` prints, for patterns that cost nothing to match. */
function matchesOf(text: string, written: string): string {
  const pattern = asText(written);
  if (!isPlain(text) || text.length > 2000 || !/^[^\\()+{}|*]*(\.\*)?[^\\()+{}|*]*$/.test(pattern))
    return isPlain(text) ? UNKNOWN : text;
  try {
    const regex = new RegExp(pattern);
    return text
      .split('\n')
      .flatMap((line) => regex.exec(line)?.[0] ?? [])
      .join('\n');
  } catch {
    return UNKNOWN;
  }
}

/** The patterns below look for the end of each command to the end of the script. */
const longestSed = 8000;

const sed: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'efl', long: ['expression', 'file', 'line-length'] });
  const given = args.all('e', 'expression');
  const scripts = given.length > 0 ? given : args.rest.slice(0, 1);
  const paths = given.length > 0 || args.has('f', 'file') ? args.rest : args.rest.slice(1);
  for (const script of scripts) {
    if (script.length > longestSed) throw new RangeError('too long a script to follow');
    const [, command] = /^(?:\d+|\$|\/[^/]*\/)?\s*e\s+(.+)$/s.exec(script) ?? [];
    if (command) call.script(command);
    const [, target] = /(?:^|[;/\d])\s*w\s+(\S+)\s*$/.exec(script) ?? [];
    if (target) call.file('write', target);
    const [, replacement, flags = ''] = /^s(.).*?\1(.*?)\1(\w*)$/s.exec(script)?.slice(1) ?? [];
    if (flags.includes('e') && replacement) call.script(replacement);
  }
  const inPlace =
    args.has('in-place') || call.words.some((word) => /^-[nErsuz]*i/.test(word) && !word.startsWith('--'));
  if (inPlace) {
    for (const path of paths.filter((path) => path !== '')) call.file('write', path);
    return '';
  }
  const text = contents(call, paths);
  const [script = ''] = scripts;
  if (/^s(.)=\.\*\1\1$/.test(asText(script))) return text.replaceAll(PRIVATE, UNKNOWN);
  return scripts.length === 1 && (isPlain(text) || /^s(.)[$^]\1/.test(script))
    ? substituted(text, script)
    : text;
};

/** The simple `s/a/b/` is worked out, since it may uncover a command. */
function substituted(text: string, script: string): string {
  const [, , from = '', to = '', flags = ''] = /^s(.)(.*?)\1(.*?)\1(g?)$/s.exec(script) ?? [];
  if (from === '^' || from === '$')
    return text.replace(/^(.+)$/gm, (line) => (from === '^' ? to + line : line + to));
  if (from === '' || /[\\*+?{[(^$|]/.test(from)) return from === '' ? text : UNKNOWN;
  return text
    .split('\n')
    .map((line) => (flags === 'g' ? line.replaceAll(from, to) : line.replace(from, to)))
    .join('\n');
}

export const patterns: Handlers = {
  grep,
  egrep: grep,
  fgrep: grep,
  rg: grep,
  ag: grep,
  ack: grep,
  sed,
  gsed: sed,
};
