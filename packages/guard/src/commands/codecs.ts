import { readArgs } from '../argv.ts';
import type { Handler, Handlers } from '../call.ts';
import { decodeBase64, decodeHex, unescapeText } from '../decode.ts';
import { asText, DECODED, ENDLESS, isPlain, NETWORK, UNKNOWN } from '../marks.ts';
import { contents } from './contents.ts';
import { byName } from './rules.ts';

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

export const codecs: Handlers = byName({
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
    if (call.words.includes('-out')) call.file('write', value('-out') ?? '');
    if (call.words.includes('-out') && file && call.content(file).includes(NETWORK))
      call.keep(value('-out') ?? '', NETWORK);
    if (!['enc', 'base64', 'aes-256-cbc'].includes(kind) || !call.words.includes('-d')) return UNKNOWN;
    const text = file ? call.content(file) : (call.stdin ?? '');
    const isText = call.words.includes('-base64') || call.words.includes('-a') || kind === 'base64';
    return isText && isPlain(text) ? decodeBase64(text) : DECODED;
  },
  uudecode: () => DECODED,
  rev: (call) => {
    const text = contents(call, readArgs(call.words).rest);
    return isPlain(text)
      ? text
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => [...line].reverse().join(''))
          .join('\n')
      : text;
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
