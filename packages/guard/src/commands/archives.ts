import { readArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { decodeBase64, decodeHex, unescapeText } from '../decode.ts';
import { asText, DECODED, ENDLESS, isPlain, NETWORK, UNKNOWN } from '../marks.ts';
import { filesOfPatch } from '../patch-files.ts';
import { isInside } from '../paths.ts';
import { contents } from './contents.ts';
import { keepFetched, spreads } from './fetched.ts';
import { committedTree, loses, undoesWork, writesPatched } from './git-work.ts';
import { byName } from './rules.ts';

const tar: Handler = (call) => {
  const [first = '', ...others] = call.words;
  const words = /^[a-zA-Z]+$/.test(first) ? [`-${first}`, ...others] : call.words;
  const long =
    'file directory use-compress-program to-command checkpoint-action exclude files-from transform rsh-command';
  const args = readArgs(words, 'fCTIXbKNgVFH', long);
  const folder = args.value('C', 'directory') ?? '.';
  const programs = ['I', 'use-compress-program', 'to-command', 'checkpoint-action', 'rsh-command'];
  for (const program of args.all(...programs)) {
    const command = program.startsWith('exec=') ? program.slice(5) : program;
    if (!/^(sleep|dot|ttyout|echo|bell|totals)\b/.test(command)) call.script(command, { stdin: null });
  }
  const file = args.value('f', 'file');
  if (args.has('x', 'extract', 'get')) {
    const content = file === undefined || file === '-' ? (call.stdin ?? '') : call.content(file);
    if (args.has('O', 'to-stdout')) return packed(content);
    extracts(call, content, folder);
    const inProject = isInside(call.path(folder), call.context.projectRoot);
    if (inProject && call.stdin?.includes(committedTree)) loses(call, 'throws away uncommitted changes');
    return '';
  }
  if (args.flags.has('delete') && file !== undefined) call.file('write', file);
  if (!args.has('c', 'create', 'r', 'u', 'append', 'update')) return UNKNOWN;
  let members = '';
  for (const name of args.rest) {
    const path = name.startsWith('/') ? name : `${folder}/${name}`;
    call.file('read', path, { recursive: true });
    if (args.has('remove-files')) call.file('delete', path, { recursive: true });
    members += member(call, path, name);
  }
  if (file === undefined || file === '-') return `${UNKNOWN}\n${members}`;
  return call.save(file, `${UNKNOWN}\n${members}`);
};

/** Content printed straight out of an archive cannot be read here, as if encoded. */
function packed(content: string): string {
  return content.includes(NETWORK) ? NETWORK : DECODED;
}

function member(call: Call, path: string, name: string): string {
  return `member ${call.path(path)} as ${name.replace(/^\/+/, '')}\n`;
}

function extracts(call: Call, content: string, folder: string): void {
  call.file('write', folder);
  if (content.includes(NETWORK)) keepFetched(call, folder);
  for (const [, from = '', name = ''] of content.matchAll(/^member (\S+) as (\S+)$/gm))
    spreads(call, from, `${folder}/${name}`);
}

const base64: Handler = (call) => {
  const args = readArgs(call.words, 'w', 'wrap');
  const text = contents(call, args.rest);
  if (args.has('d', 'D', 'decode')) return isPlain(text) ? decodeBase64(text) : DECODED;
  return isPlain(text) ? Buffer.from(text).toString('base64') : text;
};

function range(_: string, first: string, last: string): string {
  let text = '';
  for (let code = first.charCodeAt(0); code <= last.charCodeAt(0) && text.length < 300; code++)
    text += String.fromCharCode(code);
  return text;
}

const decompress: Handler = (call) => {
  const args = readArgs(call.words, 'S');
  const decoding =
    !/^(gzip|bzip2|xz|zstd|lz4|brotli|lzma|lzip|lzop|pigz|compress)$/.test(call.name) ||
    args.has('d', 'decompress', 'uncompress');
  const keeps = args.has('c', 'k', 'stdout', 'keep', 't', 'test', 'l', 'list') || /cat$/.test(call.name);
  for (const path of args.rest) call.file(keeps ? 'read' : 'delete', path);
  if (call.stdin?.includes(NETWORK)) return call.stdin;
  if (!decoding && call.stdin?.includes(ENDLESS)) return ENDLESS;
  return decoding ? DECODED : UNKNOWN;
};

export const archives: Handlers = byName({
  'tar bsdtar': tar,
  zip: (call) => {
    const args = readArgs(call.words, 'xiPbt', 'unzip-command');
    const [file = '', ...paths] = args.rest;
    const test =
      args.value('unzip-command') ??
      (call.words.includes('-TT') ? call.words[call.words.indexOf('-TT') + 1] : undefined);
    if (test !== undefined) call.script(test);
    call.files('read', paths, { recursive: args.has('r') });
    if (args.has('m')) call.files('delete', paths, { recursive: true });
    if (file === '-') return UNKNOWN;
    return call.save(file, `${UNKNOWN}\n${paths.map((path) => member(call, path, path)).join('')}`);
  },
  '7z 7za 7zz': (call) => {
    const [action = '', archive = '', ...paths] = call.words.filter((word) => !word.startsWith('-'));
    if (action === 'x' || action === 'e') {
      const folder = call.words.find((word) => word.startsWith('-o'))?.slice(2) ?? '.';
      return call.files('write', [folder]);
    }
    if (!/^(a|u|d|rn)$/.test(action)) return UNKNOWN;
    call.files('read', paths, { recursive: true });
    if (call.words.includes('-sdel')) call.files('delete', paths, { recursive: true });
    return call.files('write', [archive]);
  },
  unzip: (call) => {
    const args = readArgs(call.words, 'dxP');
    if (args.has('p')) return packed(call.content(args.rest[0] ?? ''));
    if (args.has('l', 't', 'v')) return UNKNOWN;
    extracts(call, call.content(args.rest[0] ?? ''), args.value('d') ?? '.');
    return '';
  },
  cpio: (call) => {
    const args = readArgs(call.words, 'FEHDICMR', 'directory');
    const listed = (call.stdin ?? '').split('\n').filter(Boolean);
    if (args.has('i', 'extract')) call.file('write', args.value('D', 'directory') ?? '.');
    else call.files('read', listed);
    if (args.has('p', 'pass-through')) call.file('write', args.rest[0] ?? '.');
  },
  patch: (call) => {
    const args = readArgs(call.words, 'pidorBDFVYz', 'input output directory strip');
    const [target] = args.rest;
    const folder = args.value('d', 'directory');
    const file = args.value('i', 'input');
    const text = file === undefined ? (call.stdin ?? '') : call.content(file);
    if (folder !== undefined) call.file('write', `${folder}/${target ?? 'patched'}`);
    else if (target !== undefined) call.file('write', target);
    else writesPatched(call, text, Number(args.value('p', 'strip') ?? 0));
    undoesWork(call, text, readArgs(call.words).has('R', 'reverse'));
    return '';
  },
  // Codex takes it for its own tool where a shell is told to run it: the patch on its input or as its one word.
  'apply_patch applypatch': (call) => {
    const patch = [call.stdin ?? '', ...call.words].join('\n');
    for (const { kind, path } of filesOfPatch(patch)) call.file(kind, path);
    return '';
  },
  base64,
  base32: (call) =>
    readArgs(call.words).has('d', 'decode') ? DECODED : contents(call, readArgs(call.words, 'w').rest),
  basenc: (call) => (call.words.includes('--base64') ? base64(call) : DECODED),
  xxd: (call) => {
    const args = readArgs(call.words, 'clso');
    const [file, target] = args.rest;
    const text = contents(call, file === undefined ? [] : [file]);
    if (target !== undefined) call.file('write', target);
    if (!args.has('r')) return text;
    return isPlain(text) && args.has('p') ? decodeHex(text) : DECODED;
  },
  openssl: (call) => {
    const [kind = ''] = call.words;
    const value = (name: string) => call.words[call.words.indexOf(name) + 1];
    const file = call.words.includes('-in') ? value('-in') : undefined;
    if (file) call.file('read', file);
    if (kind === 's_client' || kind === 's_server') {
      // With nothing to say it only shows the certificate.
      if (kind === 's_client' && call.stdin === '') return UNKNOWN;
      call.deny('remote-shell', 'opens a raw encrypted connection', 'Use curl.');
      return UNKNOWN;
    }
    const target = call.words.includes('-out') ? (value('-out') ?? '') : null;
    if (target !== null) call.file('write', target);
    if (target !== null && file && call.content(file).includes(NETWORK)) call.keep(target, NETWORK);
    if (!['enc', 'base64', 'aes-256-cbc'].includes(kind) || !call.words.includes('-d')) return UNKNOWN;
    const text = file ? call.content(file) : (call.stdin ?? '');
    const isText = call.words.includes('-base64') || call.words.includes('-a') || kind === 'base64';
    return isText && isPlain(text) ? decodeBase64(text) : DECODED;
  },
  uudecode: () => DECODED,
  rev: (call) => {
    const text = contents(call, readArgs(call.words).rest);
    const lines = text.replace(/\n$/, '').split('\n');
    return isPlain(text) ? lines.map((line) => [...line].reverse().join('')).join('\n') : text;
  },
  tr: (call) => {
    const args = readArgs(call.words);
    const [from = '', to = ''] = args.rest.map((set) => unescapeText(asText(set)).replace(/(.)-(.)/g, range));
    const text = call.stdin ?? UNKNOWN;
    if (!isPlain(text)) return text;
    if (args.has('d', 'delete')) return [...text].filter((char) => !from.includes(char)).join('');
    return [...text]
      .map((char) => (from.includes(char) ? (to[Math.min(from.indexOf(char), to.length - 1)] ?? char) : char))
      .join('');
  },
  'gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd zstdcat lz4 brotli': decompress,
  'lzma unlzma lzcat lzip lzop pigz unpigz compress uncompress': decompress,
});
