import { isSecretName } from '../../secrets.ts';
import { readArgs } from '../argv.ts';
import { decodeBase64, decodeHex, unescapeText } from '../decode.ts';
import {
  asText,
  DECODED,
  ENDLESS,
  hasGlob,
  isOpaque,
  isPlain,
  NETWORK,
  PRIVATE,
  secretOf,
  UNKNOWN,
} from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { printf } from '../printf.ts';
import { size } from '../size.ts';

const echo: Handler = ({ words }) => {
  const options = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const flags = words.slice(0, options === -1 ? words.length : options).join('');
  const text = words
    .slice(options === -1 ? words.length : options)
    .map(asText)
    .join(' ');
  return (flags.includes('e') ? unescapeText(text) : text) + (flags.includes('n') ? '' : '\n');
};

/** What the files hold, or what comes in where none is named. */
export function contents(call: Call, paths: readonly string[], recursive = false): string {
  if (paths.length === 0) return call.stdin ?? '';
  return paths
    .map((path) => {
      if (path === '-' || path === '/dev/stdin') return call.stdin ?? '';
      call.file('read', path, { recursive });
      return /^\/dev\/(zero|u?random)$/.test(path) ? ENDLESS : call.content(path);
    })
    .join('');
}

/** Prints what it reads, more or less: what is secret stays secret, what can be run can still be run. */
function shows(
  letters: string,
  change: (text: string, words: readonly string[]) => string = (text) => text,
): Handler {
  return (call) => change(contents(call, readArgs(call.words, { letters }).rest), call.words);
}

const lines = (from: 'start' | 'end') => (text: string, words: readonly string[]) => {
  const count = Number(/^-(?:n\s*)?(\d+)$/.exec(words.join(' ').match(/-n?\s*\d+/)?.[0] ?? '')?.[1] ?? 10);
  const bytes = size(/-c\s*(\d+[kKMGT]?)/.exec(words.join(' '))?.[1] ?? '0');
  if (bytes > 20e9 || (from === 'end' && words.some((word) => /^(-\w*[fF]|--follow)/.test(word))))
    return text;
  const bounded = text.replaceAll(ENDLESS, UNKNOWN);
  if (words.some((word) => /^(-c|--bytes)/.test(word)) || isOpaque(bounded)) return bounded;
  const all = bounded.replace(/\n$/, '').split('\n');
  return `${(from === 'start' ? all.slice(0, count) : all.slice(-count)).join('\n')}\n`;
};

const base64: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'w', long: ['wrap'] });
  const text = contents(call, args.rest);
  if (args.has('d', 'D', 'decode')) return isPlain(text) ? decodeBase64(text) : DECODED;
  return isPlain(text) ? Buffer.from(text).toString('base64') : text;
};

const xxd: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'clso' });
  const text = contents(call, args.rest);
  if (!args.has('r')) return text;
  return isPlain(text) && args.has('p') ? decodeHex(text) : DECODED;
};

const openssl: Handler = (call) => {
  const [kind = ''] = call.words;
  const value = (name: string) => call.words[call.words.indexOf(name) + 1];
  const file = call.words.includes('-in') ? value('-in') : undefined;
  if (file) call.file('read', file);
  if (kind === 's_client' || kind === 's_server') {
    call.act('deny', 'remote-shell', 'opens a raw encrypted connection', 'Use curl.');
    return UNKNOWN;
  }
  if (call.words.includes('-out')) call.file('write', value('-out') ?? '');
  if (!['enc', 'base64', 'aes-256-cbc'].includes(kind) || !call.words.includes('-d')) return UNKNOWN;
  const text = file ? call.content(file) : (call.stdin ?? '');
  const isText = call.words.includes('-base64') || call.words.includes('-a') || kind === 'base64';
  return isText && isPlain(text) ? decodeBase64(text) : DECODED;
};

const reverse: Handler = (call) => {
  const text = contents(call, readArgs(call.words).rest);
  return isPlain(text)
    ? text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => [...line].reverse().join(''))
        .join('\n')
    : text;
};

const translate: Handler = (call) => {
  const args = readArgs(call.words);
  const [from = '', to = ''] = args.rest.map((set) => unescapeText(asText(set)).replace(/(.)-(.)/g, range));
  const text = call.stdin ?? UNKNOWN;
  if (!isPlain(text)) return text;
  if (args.has('d', 'delete')) return [...text].filter((char) => !from.includes(char)).join('');
  return [...text]
    .map((char) => (from.includes(char) ? (to[Math.min(from.indexOf(char), to.length - 1)] ?? char) : char))
    .join('');
};

function range(_: string, first: string, last: string): string {
  let text = '';
  for (let code = first.charCodeAt(0); code <= last.charCodeAt(0) && text.length < 300; code++)
    text += String.fromCharCode(code);
  return text;
}

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
    if (!/key|token|secret|pass|cred|auth|api/i.test(sought) || quiet) return UNKNOWN;
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
  const text = call.stdin ?? UNKNOWN;
  return paths.length === 0 ? text : UNKNOWN;
};

const sed: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'efl', long: ['expression', 'file', 'line-length'] });
  const given = args.all('e', 'expression');
  const scripts = given.length > 0 ? given : args.rest.slice(0, 1);
  const paths = given.length > 0 || args.has('f', 'file') ? args.rest : args.rest.slice(1);
  for (const script of scripts) {
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
  return isPlain(text) && scripts.length === 1 ? substituted(text, script) : text;
};

/** The simple `s/a/b/` is worked out, since it may uncover a command. */
function substituted(text: string, script: string): string {
  const [, , from = '', to = '', flags = ''] = /^s(.)(.*?)\1(.*?)\1(g?)$/s.exec(script) ?? [];
  if (from === '' || /[\\*+?{[(^$|]/.test(from)) return from === '' ? text : UNKNOWN;
  return text
    .split('\n')
    .map((line) => (flags === 'g' ? line.replaceAll(from, to) : line.replace(from, to)))
    .join('\n');
}

const decompress: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'S' });
  const decoding =
    !/^(gzip|bzip2|xz|zstd|lz4|brotli)$/.test(call.name) || args.has('d', 'decompress', 'uncompress');
  const keeps = args.has('c', 'k', 'stdout', 'keep', 't', 'test', 'l', 'list') || /cat$/.test(call.name);
  for (const path of args.rest) call.file(keeps ? 'read' : 'delete', path);
  if (call.stdin?.includes(NETWORK)) return call.stdin;
  return decoding ? DECODED : UNKNOWN;
};

const environment: Handler = ({ words }) => {
  const names = words.filter((word) => !word.startsWith('-'));
  if (names.length === 0) return PRIVATE;
  return names.map((name) => (isSecretName(name) ? secretOf(name) : UNKNOWN)).join('\n');
};

const sort: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'okStT', long: ['output', 'compress-program'] });
  const target = args.value('o', 'output');
  const text = contents(call, args.rest);
  if (target === undefined) return text;
  call.file('write', target);
  return '';
};

const jq: Handler = (call) => {
  const args = readArgs(call.words, { long: ['arg', 'argjson', 'slurpfile', 'rawfile', 'indent'] });
  const text = contents(call, args.rest.slice(1));
  return text.replaceAll(UNKNOWN, '') === '' ? UNKNOWN : text;
};

const temporary: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'p', long: ['tmpdir', 'suffix'] });
  const [template] = args.rest;
  const path = template?.includes('/')
    ? template
    : `${args.value('p', 'tmpdir') ?? '/tmp'}/${template ?? 'tmp.XXXX'}`;
  return `${path.replace(/X{3,}/, 'made-by-mktemp')}\n`;
};

const listing: Handler = () => `./${UNKNOWN}\n`;

/** What a folder lists is a name inside it. */
const ls: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'IwT' });
  if (args.has('d', 'directory')) return `${args.rest.join('\n')}\n`;
  const matched = args.rest.filter(hasGlob);
  if (matched.length > 0) return `${matched.join('\n')}\n./${UNKNOWN}\n`;
  return `./${UNKNOWN}\n`;
};

export const text: Handlers = {
  echo,
  printf: ({ words }) => printf(words),
  ls,
  cat: shows(''),
  tac: shows(''),
  bat: shows('lHr'),
  batcat: shows('lHr'),
  less: shows('pPo'),
  more: shows(''),
  most: shows(''),
  view: shows('cu'),
  nl: shows('bdfhilnpsvw'),
  head: shows('nc', lines('start')),
  tail: shows('nc', lines('end')),
  cut: shows('bcdf'),
  fold: shows('w'),
  fmt: shows('w'),
  expand: shows('t'),
  paste: shows('d'),
  column: shows('st'),
  uniq: shows('fsw'),
  pr: shows('lw'),
  od: shows('AjNStw'),
  hexdump: shows('efns'),
  hd: shows('ns'),
  strings: shows('nte'),
  iconv: shows('ftc'),
  comm: shows(''),
  diff: shows('UCIx'),
  cmp: shows('in'),
  join: shows('12aejotv'),
  look: shows(''),
  xmllint: shows(''),
  yq: jq,
  jq,
  sort,
  base64,
  base32: (call) =>
    readArgs(call.words).has('d', 'decode')
      ? DECODED
      : contents(call, readArgs(call.words, { letters: 'w' }).rest),
  xxd,
  openssl,
  uudecode: () => DECODED,
  rev: reverse,
  tr: translate,
  grep,
  egrep: grep,
  fgrep: grep,
  rg: grep,
  ag: grep,
  ack: grep,
  sed,
  gsed: sed,
  gzip: decompress,
  gunzip: decompress,
  zcat: decompress,
  bzip2: decompress,
  bunzip2: decompress,
  bzcat: decompress,
  xz: decompress,
  unxz: decompress,
  xzcat: decompress,
  zstd: decompress,
  zstdcat: decompress,
  lz4: decompress,
  brotli: decompress,
  printenv: environment,
  yes: () => ENDLESS,
  mktemp: temporary,
  tree: listing,
  pwd: ({ shell }) => `${shell.cwd}\n`,
  dirname: ({ words }) =>
    `${(words.at(-1) ?? '').replace(/\/+[^/]*\/*$/, '') || (words.at(-1)?.startsWith('/') ? '/' : '.')}\n`,
  basename: ({ words }) => `${(words[0] ?? '').replace(/\/+$/, '').split('/').at(-1)}\n`,
  realpath: (call) => `${call.path(readArgs(call.words).rest[0] ?? '.')}\n`,
  readlink: (call) => `${call.path(readArgs(call.words).rest[0] ?? '.')}\n`,
  which: ({ words }) => `${words.at(-1) ?? ''}\n`,
  type: () => UNKNOWN,
  seq: () => '1\n',
  whoami: ({ shell }) => `${shell.world.context.home.split('/').at(-1)}\n`,
  date: () => UNKNOWN,
  test: () => '',
  '[': () => '',
  true: () => '',
  false: () => '',
  ':': () => '',
  sleep: () => '',
  wc: () => UNKNOWN,
  stat: () => UNKNOWN,
  file: () => UNKNOWN,
  du: () => UNKNOWN,
};
