import { readArgs, readLeadingArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { feed } from '../feed.ts';
import type { Language } from '../foreign/code.ts';
import { follow } from '../foreign/follow.ts';
import { readCode } from '../foreign/read.ts';
import { percent } from '../foreign/texts.ts';
import { evaluate } from '../foreign/values.ts';
import { DECODED, isPlain, NETWORK, UNKNOWN } from '../marks.ts';
import { serves } from './hosts.ts';
import { otherLanguage } from './other-languages.ts';
import { publisher } from './publishing.ts';
import { byName } from './rules.ts';

type Interpreter = {
  readonly language: Language;
  /** Options with code, and with other values: by letter, and by long names. */
  readonly code: readonly string[];
  readonly letters?: string;
  readonly long?: string;
};

function interpreter({ language, code, letters = '', long = '' }: Interpreter): Handler {
  const codeLetters = code.filter((name) => name.length === 1).join('');
  const codeNames = code.filter((name) => name.length > 1).join(' ');
  return (call) => {
    const words = language === 'js' ? call.words.map((word) => (word === '-pe' ? '-p' : word)) : call.words;
    const args = readLeadingArgs(words, letters + codeLetters, `${long} ${codeNames}`);
    const inline = args.all(...code);
    const byLine = /perl|ruby/.test(language) && args.has('n', 'p');
    const operands = inline.length > 0 ? args.rest : args.rest.slice(1);
    const run = (text: string, file?: string) =>
      feed(call, text, (source) => {
        const filled = withArguments(source, language, operands, inline.length > 0);
        return follow(call, withInput(filled, byLine, call), language, file);
      });
    if (language === 'php' && args.has('S')) return serves(call, args.value('t') ?? '.');
    // `ruby -run -e httpd FOLDER`
    if (language === 'ruby' && inline[0] === 'httpd' && args.all('r').includes('un'))
      return serves(call, args.rest[0] ?? '.');
    if (language === 'python' && args.has('m')) return pythonModule(call, args.value('m') ?? '');
    if (language === 'js')
      for (const module of args.all('r', 'require', 'import', 'loader')) run(program(call, module));
    if (byLine) call.files(args.flags.has('i') ? 'write' : 'read', args.rest);
    if (inline.length > 0) {
      const output = inline.map((text) => run(text)).join('');
      if (language === 'js' && args.has('p', 'print')) return printedValue(call, inline[0] ?? '') || output;
      if (byLine && inline.some((text) => /\b(chr|hex|oct|pack|unpack)\b/.test(text))) return DECODED;
      return output;
    }
    const [file, ...rest] = args.rest;
    if (file === undefined || file === '-' || file === '/dev/stdin')
      return call.stdin === null || args.has('version', 'V', 'v') ? UNKNOWN : run(call.stdin);
    const name = file.slice(file.lastIndexOf('/') + 1);
    if (/^(artisan|manage\.py|console|setup\.py)$/.test(name) && call.content(file) === UNKNOWN)
      return call.run([name, ...rest]);
    const [, tool] = /(?:^|\/)node_modules\/(?:\.bin\/|@[^/]+\/)?([^/]+)/.exec(file) ?? [];
    if (tool !== undefined && call.content(file) === UNKNOWN) return call.run([tool, ...rest]);
    return run(program(call, file), call.path(file));
  };
}

function program(call: Call, file: string): string {
  const [, coded, code] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(file) ?? [];
  if (code !== undefined) return coded === undefined ? percent(code) : DECODED;
  return /^https?:/.test(file) ? NETWORK : call.content(file);
}

/** Puts input from the pipe into the code that reads it, if it is short and known. */
function withInput(source: string, byLine: boolean, { stdin }: Call): string {
  if (stdin === null || stdin.length > 2000 || !isPlain(stdin)) return source;
  return source.replace(
    byLine
      ? /\$_\b/g
      : /\b(?:sys\.stdin\.read(?:line)?|STDIN\.read|(?<![.\w])input|(?<![.\w])gets)\(\)|\b(?:\w+\.)?readFileSync\((?:0|["']\/dev\/stdin["'])(?:,[^()]*)?\)|<STDIN>/g,
    () => JSON.stringify(stdin),
  );
}

function withArguments(
  source: string,
  language: Language,
  operands: readonly string[],
  inline: boolean,
): string {
  if (operands.length === 0 || !/\bargv\b|\bARGV\b/.test(source)) return source;
  const first = language === 'python' || language === 'php' ? 1 : language === 'js' ? (inline ? 1 : 2) : 0;
  const text = (word: string | undefined) => JSON.stringify(word ?? '');
  return source
    .replace(/(?:\b(?:sys|process)\.argv|\$?\bARGV|\$argv)\[(\d+)\]/g, (whole, index: string) =>
      Number(index) < first ? whole : text(operands[Number(index) - first]),
    )
    .replace(
      /\bsys\.argv\[1:\]|\bprocess\.argv\.slice\(\d\)|@ARGV\b|\bARGV\b/g,
      () => `[${operands.map(text).join(', ')}]`,
    );
}

function printedValue(call: Call, source: string): string {
  const value = evaluate(readCode(source, 'js', call.context.home), source);
  return value === '' ? '' : `${value}\n`;
}

function pythonModule(call: Call, module: string): string {
  const rest = call.words.slice(call.words.findIndex((word) => word.endsWith(module)) + 1);
  if (/^(http\.server|SimpleHTTPServer|RangeHTTPServer|uploadserver|pyftpdlib)$/.test(module))
    return serves(call, readArgs(rest, 'db', 'directory bind').value('d', 'directory') ?? '.');
  if (module === 'base64') return call.run(['base64', ...rest]);
  if (module === 'timeit')
    return feed(call, readArgs(rest, 'nrsu').rest.join('\n'), (text) => follow(call, text, 'python'));
  if (/^(zipfile|tarfile)$/.test(module)) {
    const at = rest.findIndex((word) => /^(-e|--extract)$/.test(word));
    if (at !== -1) call.file('write', rest[at + 2] ?? '.');
    return UNKNOWN;
  }
  if (/^(cProfile|profile|pdb|trace)$/.test(module))
    return python(call.with({ words: readLeadingArgs(rest, 'osmc').rest })) ?? UNKNOWN;
  const own = call.shell.world.files.get(call.path(`${module.replaceAll('.', '/')}.py`));
  if (own !== undefined) return feed(call, own, (text) => follow(call, text, 'python'));
  return /^(pip|pipx|poetry|twine|uv|alembic|flit|hatch)$/.test(module)
    ? call.run([module, ...rest])
    : UNKNOWN;
}

const python = interpreter({ language: 'python', code: ['c'], letters: 'mWX' });

const node = interpreter({
  language: 'js',
  code: ['e', 'p', 'eval', 'print'],
  letters: 'rC',
  long: 'require import loader env-file',
});

const juliaCode = interpreter({ language: 'python', code: ['e'] });

/** A program does what its source says, as far as that is a plain call with a text in it. */
const compile: Handler = (call) => {
  const args = readArgs(call.words, 'oxILD');
  const target = args.value('o');
  if (target !== undefined) call.file('write', target);
  for (const path of args.rest) {
    const source = path === '-' ? (call.stdin ?? UNKNOWN) : call.content(path);
    feed(call, source, (text) => {
      otherLanguage()(call.with({ words: [], stdin: text }));
      return follow(call, text, 'js');
    });
  }
};

export const foreign: Handlers = byName({
  'cc gcc g++ c++ clang clang++ tcc rustc javac': compile,
  java: (call) => (call.words.some((word) => word.endsWith('.java')) ? compile(call) : UNKNOWN),
  // Not a program: `go` hands `go run` to this entry.
  'go:run': compile,
  'python python2 python3 pypy pypy3 ipython': python,
  ...Object.fromEntries([8, 9, 10, 11, 12, 13, 14].map((minor) => [`python3.${minor}`, python])),
  'node nodejs tsx ts-node': node,
  deno: (call) => {
    const [action = '', ...words] = call.words;
    if (/^(run|install)$/.test(action) && words.some((word) => /^https?:/.test(word)))
      call.deny('remote-code', 'runs code from the network');
    if (action === 'publish') return publisher(/^publish\b/)(call);
    if (action === 'eval') return node(call.with({ words: ['-e', ...words] }));
    if (action === 'run') return node(call.with({ words: words.filter((word) => !word.startsWith('-')) }));
  },
  tclsh: (call) => {
    const code = [call.stdin ?? '', ...call.words.slice(0, 1).map((path) => call.content(path))].join('\n');
    for (const [, paths = ''] of code.matchAll(/\bfile\s+delete\s+([^\n;\]]+)/g))
      for (const path of paths.split(/\s+/))
        if (path !== '' && !path.startsWith('-'))
          call.file('delete', path.replace(/^~(?=\/|$)/, call.context.home), { recursive: true });
    return otherLanguage(/\bexec\s+([^\n;\]]+)/g)(call);
  },
  perl: interpreter({ language: 'perl', code: ['e', 'E'], letters: 'MIF' }),
  'ruby irb': interpreter({ language: 'ruby', code: ['e'], letters: 'rI' }),
  php: interpreter({ language: 'php', code: ['r'], letters: 'dSt' }),
  'lua luajit lua5.1 lua5.2 lua5.3 lua5.4': interpreter({ language: 'lua', code: ['e'], letters: 'l' }),
  zx: otherLanguage(/\$`([^`]+)`/g),
  julia: (call) => {
    otherLanguage()(call);
    return juliaCode(call);
  },
  'R Rscript elixir iex groovy guile racket sbcl swift ghc runghc ocaml erl raku clojure clj octave gnuplot jshell scala kotlin':
    otherLanguage(),
});
