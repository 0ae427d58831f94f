import { isSecretName } from '../../secrets.ts';
import { readArgs } from '../argv.ts';
import { decodeBase64, decodeHex, unescapeText } from '../decode.ts';
import {
  asGlob,
  asText,
  DECODED,
  ENDLESS,
  hasGlob,
  isOpaque,
  isPlain,
  NETWORK,
  PRIVATE,
  STAR,
  secretOf,
  UNKNOWN,
} from '../marks.ts';
import type { Call, Handler, Handlers } from '../model.ts';
import { isSecretFile } from '../paths.ts';
import { printf } from '../printf.ts';
import { size } from '../size.ts';

const echo: Handler = ({ words }) => {
  if (!words[0]?.startsWith('-')) return `${words.map(asText).join(' ')}\n`;
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
  if (from === 'end' && text.includes(ENDLESS)) return text;
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
  return names.map(variable).join('\n');
};

function variable(name: string): string {
  return isSecretName(name) ? secretOf(name) : UNKNOWN;
}

const count: Handler = ({ words }) => {
  const args = readArgs(words, { letters: 'fs', long: ['format', 'separator'] });
  if (args.rest.some((word) => /^inf|^\d{10,}$/i.test(word))) return ENDLESS;
  return `${(args.value('f', 'format') ?? '1').replace(/%[\d.]*[aefg]/gi, '1')}\n`;
};

const sort: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'okStT', long: ['output', 'compress-program'] });
  for (const program of args.all('compress-program')) call.script(program);
  const target = args.value('o', 'output');
  const text = contents(call, args.rest);
  if (target === undefined) return text;
  call.file('write', target);
  return '';
};

const shuffle: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'ino', long: ['output', 'input-range', 'head-count'] });
  const target = args.value('o', 'output');
  const text = args.has('e', 'echo') ? `${args.rest.join('\n')}\n` : contents(call, args.rest);
  if (target === undefined) return text;
  call.file('write', target);
  return '';
};

const uniq: Handler = (call) => {
  const [from, target] = readArgs(call.words, { letters: 'fsw' }).rest;
  const text = contents(call, from === undefined ? [] : [from]);
  if (target === undefined) return text;
  call.file('write', target);
  call.keep(target, text);
  return '';
};

const cut: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'bcdf',
    long: ['delimiter', 'fields', 'characters', 'bytes'],
  });
  const text = contents(call, args.rest);
  const between = args.value('d', 'delimiter') ?? '\t';
  const field = Number(args.value('f', 'fields'));
  const [, first = '1', dash = '', last = ''] =
    /^(\d*)(-?)(\d*)$/.exec(args.value('c', 'b', 'characters', 'bytes') ?? '') ?? [];
  // The names of variables are no secret.
  if (between === '=' && field === 1) return text.replaceAll(PRIVATE, UNKNOWN);
  if (!isPlain(text)) return text;
  return text
    .split('\n')
    .map((line) => {
      if (field > 0) return line.includes(between) ? (line.split(between)[field - 1] ?? '') : line;
      const from = Number(first || 1) - 1;
      return line.slice(from, dash === '' ? from + 1 : last === '' ? undefined : Number(last));
    })
    .join('\n');
};

/** Lines side by side. */
const paste: Handler = (call) => {
  const args = readArgs(call.words, { letters: 'd', long: ['delimiters'] });
  const columns = args.rest.map((path) => contents(call, [path]).replace(/\n$/, '').split('\n'));
  if (columns.length < 2) return columns[0]?.join('\n') ?? call.stdin ?? '';
  const between = args.value('d', 'delimiters')?.[0] ?? '\t';
  const rows = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: rows }, (_, i) => columns.map((lines) => lines[i] ?? '').join(between)).join(
    '\n',
  );
};

const jq: Handler = (call) => {
  const args = readArgs(call.words, {
    letters: 'L',
    long: ['arg', 'argjson', 'slurpfile', 'rawfile', 'indent', 'from-file'],
  });
  const [filter = '', ...paths] = args.rest;
  const text = contents(call, paths);
  if (/^\s*"(?:[^"\\]|\\["\\/])*"\s*$/.test(filter)) return `${JSON.parse(filter)}\n`;
  const [environ, name] = /(?:^|[|(,\s])(?:env|\$ENV)\b(?:\.(\w+))?/.exec(filter) ?? [];
  if (environ) return name ? variable(name) : PRIVATE;
  if (isPlain(text) && /^(\.\w+|\.?\[\d+\])+$/.test(filter)) return member(text, filter);
  return text.replaceAll(UNKNOWN, '') === '' ? UNKNOWN : text;
};

/** What a plain path such as `.a.b[0]` picks. */
function member(text: string, path: string): string {
  try {
    let value: unknown = JSON.parse(text);
    for (const key of path.match(/\w+/g) ?? []) value = Object(value)[key];
    return `${typeof value === 'string' ? value : JSON.stringify(value)}\n`;
  } catch {
    return UNKNOWN;
  }
}

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
  const { context } = call.shell.world;
  if (args.has('d', 'directory')) return `${args.rest.join('\n')}\n`;
  // The name of a file comes back as it was given.
  const matched = args.rest.filter((path) => hasGlob(path) || isSecretFile(call.path(path), context, false));
  if (matched.length > 0) return `${matched.join('\n')}\n./${UNKNOWN}\n`;
  if (args.rest.some((path) => path !== '.')) return `./${UNKNOWN}\n`;
  return args.has('a', 'A', 'all', 'almost-all') ? `./${STAR}\n./.${STAR}\n` : `./${STAR}\n`;
};

const dateGrammar = { letters: 'dfr', long: ['date', 'file', 'reference'] };

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
  tail: (call) => {
    if (call.words.includes('/dev/zero'))
      call.act('deny', 'exhaustion', 'looks for the end of what has none', 'Use head -c.');
    return shows('nc', lines('end'))(call);
  },
  cut,
  fold: shows('w'),
  fmt: shows('w'),
  expand: shows('t'),
  paste,
  column: shows('st'),
  uniq,
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
  shuf: shuffle,
  base64,
  base32: (call) =>
    readArgs(call.words).has('d', 'decode')
      ? DECODED
      : contents(call, readArgs(call.words, { letters: 'w' }).rest),
  basenc: (call) => (call.words.includes('--base64') ? base64(call) : DECODED),
  expr: ({ words }) => (words.length === 1 ? `${words[0]}\n` : UNKNOWN),
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
  yes: ({ words }) => `${words.length === 0 ? 'y' : words.join(' ')}\n${ENDLESS}`,
  mktemp: temporary,
  tree: listing,
  pwd: ({ shell }) => `${shell.cwd}\n`,
  dirname: ({ words }) =>
    `${(words.at(-1) ?? '').replace(/\/+[^/]*\/*$/, '') || (words.at(-1)?.startsWith('/') ? '/' : '.')}\n`,
  basename: ({ words }) => `${(words[0] ?? '').replace(/\/+$/, '').split('/').at(-1)}\n`,
  realpath: (call) => `${call.path(readArgs(call.words).rest[0] ?? '.')}\n`,
  readlink: (call) => `${call.path(readArgs(call.words).rest[0] ?? '.')}\n`,
  type: () => UNKNOWN,
  seq: count,
  whoami: ({ shell }) => `${shell.world.context.home.split('/').at(-1)}\n`,
  date: (call) => {
    if (call.words.some((word) => word.startsWith('-')) && readArgs(call.words, dateGrammar).has('s', 'set'))
      call.act('deny', 'system-config', 'sets the clock of the machine', 'Leave it to a person.');
    const format = call.words.find((word) => word.startsWith('+'))?.slice(1);
    return format === undefined ? UNKNOWN : `${format.replace(/%[-_0^#]?\w/g, '1')}\n`;
  },
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
