import { isSecretName } from '../../secrets.ts';
import { readArgs } from '../argv.ts';
import { unescapeText } from '../decode.ts';
import { feed } from '../feed.ts';
import { type Code, endOf, evaluate, type Language, readCode } from '../foreign-text.ts';
import { isOpaque, isPlain, NETWORK, PRIVATE, secretOf, secretsIn, UNKNOWN } from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { namesOnly } from '../private.ts';
import { compilers } from './compilers.ts';
import { leavesNames } from './contents.ts';
import { follow } from './foreign-effects.ts';
import { serves } from './hosts.ts';
import { named } from './rules.ts';

type Interpreter = {
  readonly language: Language;
  readonly code: readonly string[];
  readonly letters?: string;
  readonly long?: readonly string[];
};

function interpreter({ language, code, letters = '', long = [] }: Interpreter): Handler {
  const codeLetters = code.filter((name) => name.length === 1).join('');
  const grammar = {
    letters: letters + codeLetters,
    long: [...long, ...code.filter((name) => name.length > 1)],
    stop: true,
  };
  return (call) => {
    const args = readArgs(call.words, grammar);
    const inline = args.all(...code);
    const given = inline.length > 0 ? args.rest : args.rest.slice(1);
    const run = (text: string, file?: string) =>
      feed(call, text, (known) =>
        follow(
          call,
          withInput(withArguments(known, language, given, inline.length > 0), call),
          language,
          file,
        ),
      );
    if (language === 'php' && args.has('S')) return serves(call, args.value('t') ?? '.');
    // `ruby -run -e httpd FOLDER`
    if (language === 'ruby' && inline[0] === 'httpd' && args.all('r').includes('un'))
      return serves(call, args.rest[0] ?? '.');
    if (language === 'python' && args.has('m')) return pythonModule(call, args.value('m') ?? '');
    if (language === 'js')
      for (const module of args.all('r', 'require', 'import', 'loader')) run(program(call, module));
    if (args.has('n', 'p') && /perl|ruby/.test(language)) {
      for (const path of args.rest) call.file(args.flags.has('i') ? 'write' : 'read', path);
    }
    if (inline.length > 0) {
      const output = inline.map((text) => run(text)).join('');
      if (language === 'js' && args.has('p', 'print'))
        return evaluateOnly(call, inline[0] ?? '', language, output);
      return output;
    }
    const [file, ...rest] = args.rest;
    if (file === undefined || file === '-' || file === '/dev/stdin')
      return call.stdin === null || args.has('version', 'V', 'v') ? UNKNOWN : run(call.stdin);
    const name = file.slice(file.lastIndexOf('/') + 1);
    if (/^(artisan|manage\.py|console|setup\.py)$/.test(name) && call.content(file) === UNKNOWN)
      return call.run([name, ...rest]);
    // A program of a package, by its file.
    const [, tool] = /(?:^|\/)node_modules\/(?:\.bin\/|@[^/]+\/)?([^/]+)/.exec(file) ?? [];
    if (tool !== undefined && call.content(file) === UNKNOWN) return call.run([tool, ...rest]);
    return run(program(call, file), call.path(file));
  };
}

/** What a file holds, or what comes from an address that some take in its place. */
function program(call: Call, file: string): string {
  return /^https?:/.test(file) ? NETWORK : call.content(file);
}

/** What is read from the pipe stands in the code where it is read, where it is short and known. */
function withInput(source: string, { stdin }: Call): string {
  if (stdin === null || stdin.length > 2000 || !isPlain(stdin)) return source;
  return source.replace(
    /\b(?:sys\.stdin\.read(?:line)?|STDIN\.read|(?<![.\w])input|(?<![.\w])gets)\(\)|\b(?:\w+\.)?readFileSync\((?:0|["']\/dev\/stdin["'])(?:,[^()]*)?\)|<STDIN>/g,
    () => JSON.stringify(stdin),
  );
}

/** The words after the program stand in the code where it looks at them. */
function withArguments(
  source: string,
  language: Language,
  given: readonly string[],
  inline: boolean,
): string {
  if (given.length === 0 || !/\bargv\b|\bARGV\b/.test(source)) return source;
  const first = language === 'python' || language === 'php' ? 1 : language === 'js' ? (inline ? 1 : 2) : 0;
  const text = (word: string | undefined) => JSON.stringify(word ?? '');
  return source
    .replace(/(?:\b(?:sys|process)\.argv|\$?\bARGV|\$argv)\[(\d+)\]/g, (whole, index: string) =>
      Number(index) < first ? whole : text(given[Number(index) - first]),
    )
    .replace(
      /\bsys\.argv\[1:\]|\bprocess\.argv\.slice\(\d\)|@ARGV\b|\bARGV\b/g,
      () => `[${given.map(text).join(', ')}]`,
    );
}

function evaluateOnly(call: Call, source: string, language: Language, otherwise: string): string {
  const value = evaluate(readCode(source, language, call.shell.world.context.home), source);
  return value === '' ? otherwise : `${value}\n`;
}

function pythonModule(call: Call, module: string): string {
  const rest = call.words.slice(call.words.findIndex((word) => word.endsWith(module)) + 1);
  if (/^(http\.server|SimpleHTTPServer|RangeHTTPServer|uploadserver|pyftpdlib)$/.test(module))
    return serves(
      call,
      readArgs(rest, { letters: 'db', long: ['directory', 'bind'] }).value('d', 'directory') ?? '.',
    );
  if (module === 'base64') return call.run(['base64', ...rest]);
  if (module === 'timeit')
    return feed(call, readArgs(rest, { letters: 'nrsu' }).rest.join('\n'), (text) =>
      follow(call, text, 'python'),
    );
  if (/^(zipfile|tarfile)$/.test(module)) {
    const at = rest.findIndex((word) => /^(-e|--extract)$/.test(word));
    if (at !== -1) call.file('write', rest[at + 2] ?? '.');
    return UNKNOWN;
  }
  if (/^(cProfile|profile|pdb|trace)$/.test(module))
    return python(call.with({ words: readArgs(rest, { letters: 'osmc', stop: true }).rest })) ?? UNKNOWN;
  const own = call.shell.world.files.get(call.path(`${module.replaceAll('.', '/')}.py`));
  if (own !== undefined) return feed(call, own, (text) => follow(call, text, 'python'));
  return /^(pip|pipx|poetry|twine|uv|alembic|flit|hatch)$/.test(module)
    ? call.run([module, ...rest])
    : UNKNOWN;
}

const awk: Handler = (call) => {
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
    /^\s*BEGIN\s*\{\s*printf?\s*\(?\s*"((?:[^"\\]|\\.)*)"\s*\)?\s*;?\s*\}\s*$/.exec(program) ?? [];
  if (literal !== undefined) return `${literal.replace(/\\(.)/g, '$1')}\n`;
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

const machineCmdlets =
  /\b(format-volume|clear-disk|stop-computer|restart-computer|set-executionpolicy|set-mppreference|(stop|remove|set|restart)-service|(new|remove|set)-local\w+|disable-\w+|stop-process\b.*-name)\b/i;

const powershell: Handler = (call) => {
  const at = call.words.findIndex((word) => /^-(c|command)$/i.test(word));
  const code =
    at === -1
      ? call.words.filter((word) => !word.startsWith('-')).join(' ')
      : call.words.slice(at + 1).join(' ');
  if (call.words.some((word) => /^-e(nc(odedcommand)?|c)?$/i.test(word)))
    call.act('deny', 'obfuscation', 'runs an encoded command', 'Write the command out in plain text.');
  if (
    /\b(iex|invoke-expression)\b/i.test(code) &&
    /\b(iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|curl|wget)\b/i.test(code)
  )
    call.act('deny', 'remote-code', 'runs code from the network', 'Download it to a file and read it first.');
  if (/\bsockets\.tcp/i.test(code))
    call.act('deny', 'remote-shell', 'opens a connection to another machine', 'Use curl.');
  for (const [, words = ''] of code.matchAll(
    /(?:^|[;|&{(\n])\s*(?:remove-item|rm|del|rd|ri|erase)\s+([^;|}]*)/gi,
  )) {
    for (const word of words.split(/\s+/)) {
      const path = word
        .replace(/["']/g, '')
        .replace(/^\$(HOME|env:HOME|env:USERPROFILE)|^~/i, call.shell.world.context.home);
      if (path !== '' && !path.startsWith('-'))
        call.file('delete', path.replaceAll('\\', '/').replace(/^[a-z]:/i, ''), { recursive: true });
    }
  }
  if (machineCmdlets.test(code))
    call.act('deny', 'system-config', 'changes the machine', 'Leave it to a person.');
  return UNKNOWN;
};

const python = interpreter({ language: 'python', code: ['c'], letters: 'mWX' });

const node = interpreter({
  language: 'js',
  code: ['e', 'p', 'eval', 'print'],
  letters: 'rC',
  long: ['require', 'import', 'loader', 'env-file'],
});

const perl = interpreter({ language: 'perl', code: ['e', 'E'], letters: 'MIF' });

const ruby = interpreter({ language: 'ruby', code: ['e'], letters: 'rI' });

const php = interpreter({ language: 'php', code: ['r'], letters: 'dSt' });

const lua = interpreter({ language: 'lua', code: ['e'], letters: 'l' });

/** What these run is seen as far as it is a plain call with a literal. */
const otherLanguage =
  (pattern: RegExp): Handler =>
  (call) => {
    const code = [...call.words, call.stdin ?? ''].join('\n');
    for (const [, command = ''] of code.matchAll(pattern)) call.script(command);
    for (const [, path = ''] of code.matchAll(/\bunlink\s*\(\s*["']([^"']+)["']/g))
      call.file('delete', path.replace(/^~(?=\/|$)/, call.shell.world.context.home), { recursive: true });
    return UNKNOWN;
  };

const bunOrDeno: Handler = (call) =>
  call.words[0] === 'eval'
    ? node(call.with({ words: ['-e', ...call.words.slice(1)] }))
    : call.words[0] === 'run'
      ? node(call.with({ words: call.words.slice(1).filter((word) => !word.startsWith('-')) }))
      : UNKNOWN;

export const foreign: Handlers = {
  ...compilers,
  python,
  python2: python,
  python3: python,
  ...Object.fromEntries([8, 9, 10, 11, 12, 13, 14].map((minor) => [`python3.${minor}`, python])),
  pypy: python,
  pypy3: python,
  ipython: python,
  node,
  nodejs: node,
  tsx: node,
  'ts-node': node,
  deno: (call) => {
    if (/^(run|install)$/.test(call.words[0] ?? '') && call.words.some((word) => /^https?:/.test(word)))
      call.act(
        'deny',
        'remote-code',
        'runs code from the network',
        'Download it to a file and read it first.',
      );
    return bunOrDeno(call);
  },
  Rscript: otherLanguage(/\bsystem2?\s*\(\s*["']([^"']+)["']/g),
  tclsh: (call) => {
    const code = [call.stdin ?? '', ...call.words.slice(0, 1).map((path) => call.content(path))].join('\n');
    for (const [, paths = ''] of code.matchAll(/\bfile\s+delete\s+([^\n;\]]+)/g))
      for (const path of paths.split(/\s+/))
        if (path !== '' && !path.startsWith('-'))
          call.file('delete', path.replace(/^~(?=\/|$)/, call.shell.world.context.home), { recursive: true });
    return otherLanguage(/\bexec\s+([^\n;\]]+)/g)(call);
  },
  perl,
  ruby,
  irb: ruby,
  php,
  ...named('lua luajit lua5.1 lua5.2 lua5.3 lua5.4', lua),
  julia: interpreter({ language: 'python', code: ['e'] }),
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  powershell,
  pwsh: powershell,
  'powershell.exe': powershell,
};
