import { isSecretName } from '../../secrets.ts';
import { readArgs } from '../argv.ts';
import { unescapeText } from '../decode.ts';
import { feed } from '../feed.ts';
import { type Code, endOf } from '../foreign/code.ts';
import { readCode } from '../foreign/read.ts';
import { filled } from '../foreign/texts.ts';
import { evaluate } from '../foreign/values.ts';
import { isOpaque, isPlain, NETWORK, PRIVATE, secretOf, secretsIn, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { namesOnly } from '../private.ts';
import { leavesNames } from './contents.ts';

const program: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'Ffvi',
    long: ['file', 'field-separator', 'assign', 'include'],
    stop: true,
  });
  const inPlace = args.all('i', 'include').includes('inplace');
  const run = (command: string) => feed(call, command, (text) => call.script(text, { stdin: null }));
  const file = args.value('f', 'file');
  const program = file === undefined ? (args.rest[0] ?? '') : call.content(file);
  const paths = file === undefined ? args.rest.slice(1) : args.rest;
  // The first column of variables are their names.
  const names =
    args.value('F', 'field-separator') === '=' && /^[^{}]*\{\s*print\s+\$1\s*;?\s*\}\s*$/.test(program);
  if (!names || inPlace || !leavesNames(call, paths, (line) => line.replace(/=.*/, '')))
    for (const path of paths) if (!/^\w+=/.test(path)) call.file(inPlace ? 'write' : 'read', path);
  if (program.includes(NETWORK)) run(NETWORK);
  const given = args.all('v', 'assign').map((word): [string, string] => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)];
  });
  const code = readCode(withFields(program, call.stdin), 'awk', call.shell.world.context.home, given);
  const text = (from: number, stop: string) =>
    evaluate(code, code.source.slice(from, endOf(code.masked, from, stop)));
  const start = (at: number) =>
    Math.max(...[';', '{', '\n', '('].map((char) => code.masked.lastIndexOf(char, at - 1))) + 1;
  for (const { index, 0: match } of code.masked.matchAll(/\bsystem\s*\(/g))
    run(text(index + match.length, ''));
  if (/\/inet\d?\/(tcp|udp)\//.test(program) && /\|&/.test(program))
    call.act('deny', 'remote-shell', 'opens a connection to another machine', 'Use curl.');
  for (const { index } of code.masked.matchAll(/\|\s*getline/g)) {
    const output = run(evaluate(code, code.source.slice(start(index), index)));
    if (output.includes(NETWORK) && /\bsystem\s*\(/.test(code.masked)) run(NETWORK);
  }
  for (const { index, 0: match } of code.masked.matchAll(/(?<!\|)\|&?(?!\||\s*getline)/g)) {
    const [, printed = ''] = /\bprintf?\b\s*\(?(.*)$/s.exec(code.source.slice(start(index), index)) ?? [];
    call.script(text(index + match.length, ';}\n'), { stdin: evaluate(code, printed) || UNKNOWN });
  }
  for (const { index, 0: match } of code.masked.matchAll(/\bprintf?\b[^;}\n>]*>>?/g)) {
    const target = text(index + match.length, ';}\n');
    if (target !== '' && !isOpaque(target)) call.file('write', target);
  }
  for (const { index, 0: match } of code.masked.matchAll(/getline\s*(?:\w+\s*)?</g)) {
    const source = text(index + match.length, ';)}\n');
    if (source !== '' && !isOpaque(source)) call.file('read', source);
  }
  if (/\bprint\b[^;}\n]*\bENVIRON\s*\[\s*\w/.test(code.masked)) return PRIVATE;
  for (const [, name = ''] of program.matchAll(/\bENVIRON\s*\[\s*"(\w+)"/g))
    if (/\bprintf?\b/.test(code.masked) && isSecretName(name)) return secretOf(name);
  const secret = secretsIn(args.all('v', 'assign').join(' '));
  if (secret.length > 0 && /\bprintf?\b/.test(code.masked)) return secret.map(secretOf).join(' ');
  const [, literal] =
    /^\s*BEGIN\s*\{\s*printf?\s*(?:\(\s*)?"((?:[^"\\]|\\.)*)"[\s);]*\}\s*$/.exec(program) ?? [];
  if (literal !== undefined) return `${literal.replace(/\\(.)/g, '$1')}\n`;
  const [, format, numbers = ''] =
    /^\s*BEGIN\s*\{\s*printf\s*(?:\(\s*)?"((?:[^"\\]|\\.)*)"\s*,([\d\s,);]+)\}\s*$/.exec(program) ?? [];
  if (format !== undefined) {
    const characters = [...numbers.matchAll(/\d+/g)].map(([number]) => String.fromCharCode(Number(number)));
    return filled(unescapeText(format), /%c/g, characters);
  }
  const [, column] = /^\s*\{\s*print\s+\$(\d+|NF)\s*;?\s*\}\s*$/.exec(program) ?? [];
  if (names) return namesOnly(call.stdin ?? UNKNOWN, call.shell.world.context);
  if (column !== undefined && paths.length === 0 && isPlain(call.stdin ?? UNKNOWN))
    return fields(call.stdin ?? '', args.value('F', 'field-separator'), column);
  const [, shown] = /^\s*\{\s*print\s+([^{};|>]+?)\s*;?\s*\}\s*$/.exec(program) ?? [];
  if (shown !== undefined && paths.length === 0) return eachLine(call, code, shown);
  return paths.length === 0 ? (call.stdin ?? UNKNOWN) : UNKNOWN;
};

/** What `{ print … }` makes of each line, of which some may not be known. */
function eachLine(call: Call, code: Code, shown: string): string {
  const lines = (call.stdin ?? UNKNOWN).replace(/\n$/, '').split('\n');
  if (lines.length > 50 || !/\$0/.test(shown) || /\$[1-9N]/.test(shown)) return call.stdin ?? UNKNOWN;
  return lines
    .map(
      (line) =>
        `${evaluate(
          code,
          shown.replaceAll('$0', () => JSON.stringify(line)),
        )}\n`,
    )
    .join('');
}

/** A program that looks at `$1` sees what stands there, as far as one line of input says it. */
function withFields(program: string, input: string | null): string {
  const [line = '', more] = (input ?? UNKNOWN).replace(/\n$/, '').split('\n');
  if (more !== undefined || !isPlain(line)) return program;
  const columns = line.trim().split(/\s+/);
  return program.replace(/\$(\d)\b/g, (_, n: string) =>
    JSON.stringify(n === '0' ? line : (columns[Number(n) - 1] ?? '')),
  );
}

/** One column of each line. */
function fields(text: string, separator: string | undefined, column: string): string {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const all = separator === undefined ? line.trim().split(/\s+/) : line.split(unescapeText(separator));
      return column === '0' ? line : (all.at(column === 'NF' ? -1 : Number(column) - 1) ?? '');
    })
    .map((field) => `${field}\n`)
    .join('');
}

export const awk: Handlers = { awk: program, gawk: program, mawk: program, nawk: program };
