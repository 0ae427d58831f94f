import { type Args, readLeadingArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { unescapeText } from '../decode.ts';
import { feed } from '../feed.ts';
import { type Code, endOf } from '../foreign/code.ts';
import { readCode } from '../foreign/read.ts';
import { filled } from '../foreign/texts.ts';
import { evaluate } from '../foreign/values.ts';
import { isOpaque, isPlain, NETWORK, PRIVATE, secretOf, secretsIn, UNKNOWN } from '../marks.ts';
import { namesOnly } from '../private.ts';
import { isSecretName } from '../secret-names.ts';
import { leavesNames } from './contents.ts';
import { byName } from './rules.ts';

type Script = {
  readonly call: Call;
  readonly args: Args;
  readonly program: string;
  readonly paths: readonly string[];
  readonly code: Code;
  /** Only the first column of variables is printed, which are their names. */
  readonly names: boolean;
};

const program: Handler = (call) => {
  const args = readLeadingArgs(call.words, 'Ffvi', 'file field-separator assign include');
  const file = args.value('f', 'file');
  const program = file === undefined ? (args.rest[0] ?? '') : call.content(file);
  const paths = file === undefined ? args.rest.slice(1) : args.rest;
  const names =
    args.value('F', 'field-separator') === '=' && /^[^{}]*\{\s*print\s+\$1\s*;?\s*\}\s*$/.test(program);
  const assignments = args.all('v', 'assign').map((word): [string, string] => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)];
  });
  const code = readCode(withFields(program, call.stdin), 'awk', call.context.home, assignments);
  const script = { call, args, program, paths, code, names };
  touchFiles(script);
  startPrograms(script);
  return secretsOf(script) ?? printedBy(script);
};

function touchFiles({ call, args, paths, code, names }: Script): void {
  const inPlace = args.all('i', 'include').includes('inplace');
  if (!names || inPlace || !leavesNames(call, paths, (line) => line.replace(/=.*/, '')))
    for (const path of paths) if (!/^\w+=/.test(path)) call.file(inPlace ? 'write' : 'read', path);
  const touch = (kind: 'read' | 'write', before: RegExp, stop: string) => {
    for (const { index, 0: match } of code.masked.matchAll(before)) {
      const path = textAt(code, index + match.length, stop);
      if (path !== '' && !isOpaque(path)) call.file(kind, path);
    }
  };
  touch('write', /\bprintf?\b[^;}\n>]*>>?/g, ';}\n');
  touch('read', /getline\s*(?:\w+\s*)?</g, ';)}\n');
}

function startPrograms({ call, program, code }: Script): void {
  const run = (command: string) => feed(call, command, (text) => call.script(text, { stdin: null }));
  const start = (at: number) =>
    Math.max(...[';', '{', '\n', '('].map((char) => code.masked.lastIndexOf(char, at - 1))) + 1;
  if (program.includes(NETWORK)) run(NETWORK);
  for (const { index, 0: match } of code.masked.matchAll(/\bsystem\s*\(/g))
    run(textAt(code, index + match.length, ''));
  if (/\/inet\d?\/(tcp|udp)\//.test(program) && /\|&/.test(program))
    call.deny('remote-shell', 'opens a connection to another machine', 'Use curl.');
  for (const { index } of code.masked.matchAll(/\|\s*getline/g)) {
    const output = run(evaluate(code, code.source.slice(start(index), index)));
    if (output.includes(NETWORK) && /\bsystem\s*\(/.test(code.masked)) run(NETWORK);
  }
  for (const { index, 0: match } of code.masked.matchAll(/(?<!\|)\|&?(?!\||\s*getline)/g)) {
    const [, printed = ''] = /\bprintf?\b\s*\(?(.*)$/s.exec(code.source.slice(start(index), index)) ?? [];
    call.script(textAt(code, index + match.length, ';}\n'), { stdin: evaluate(code, printed) || UNKNOWN });
  }
}

function textAt(code: Code, from: number, stop: string): string {
  return evaluate(code, code.source.slice(from, endOf(code.masked, from, stop)));
}

function secretsOf({ args, program, code }: Script): string | null {
  if (!/\bprintf?\b/.test(code.masked)) return null;
  if (/\bprint\b[^;}\n]*\bENVIRON\s*\[\s*\w/.test(code.masked)) return PRIVATE;
  const variables = [...program.matchAll(/\bENVIRON\s*\[\s*"(\w+)"/g)].map(([, name = '']) => name);
  const secrets = [...variables.filter(isSecretName), ...secretsIn(args.all('v', 'assign').join(' '))];
  return secrets.length > 0 ? secrets.map(secretOf).join(' ') : null;
}

function printedBy({ call, program, paths, code, names }: Script): string {
  const [, literal] =
    /^\s*BEGIN\s*\{\s*printf?\s*(?:\(\s*)?"((?:[^"\\]|\\.)*)"[\s);]*\}\s*$/.exec(program) ?? [];
  if (literal !== undefined) return `${literal.replace(/\\(.)/g, '$1')}\n`;
  const [, format, numbers = ''] =
    /^\s*BEGIN\s*\{\s*printf\s*(?:\(\s*)?"((?:[^"\\]|\\.)*)"\s*,([\d\s,);]+)\}\s*$/.exec(program) ?? [];
  if (format !== undefined) {
    const characters = [...numbers.matchAll(/\d+/g)].map(([number]) => String.fromCharCode(Number(number)));
    return filled(unescapeText(format), /%c/g, characters);
  }
  if (names) return namesOnly(call.stdin ?? UNKNOWN, call.context);
  if (paths.length > 0) return UNKNOWN;
  const input = call.stdin ?? UNKNOWN;
  const [, expression] = /^\s*\{\s*print\s+([^{};|>]+?)\s*;?\s*\}\s*$/.exec(program) ?? [];
  return expression === undefined ? input : eachLine(input, code, expression);
}

/** Evaluates `{ print … }` for each line; some lines may be unknown. */
function eachLine(input: string, code: Code, expression: string): string {
  const lines = input.replace(/\n$/, '').split('\n');
  if (lines.length > 50 || !/\$0/.test(expression) || /\$[1-9N]/.test(expression)) return input;
  const printed = lines.map((line) => expression.replaceAll('$0', () => JSON.stringify(line)));
  return printed.map((text) => `${evaluate(code, text)}\n`).join('');
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

export const awk: Handlers = byName({
  'awk gawk mawk nawk': program,
});
