import { readArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { hiddenIn } from '../landmarks.ts';
import {
  DECODED,
  ENDLESS,
  hasGlob,
  isOpaque,
  isPlain,
  PRIVATE,
  STAR,
  secretOf,
  secretsIn,
  UNKNOWN,
} from '../marks.ts';
import { isSecretName } from '../secret-names.ts';
import { isSecretFile } from '../zones.ts';
import { contents } from './contents.ts';
import { byName } from './rules.ts';

function variable(name: string): string {
  return isSecretName(name) ? secretOf(name) : UNKNOWN;
}

function member(text: string, path: string): string {
  try {
    let value: unknown = JSON.parse(text);
    for (const key of path.match(/\w+/g) ?? []) value = Object(value)[key];
    return `${typeof value === 'string' ? value : JSON.stringify(value)}\n`;
  } catch {
    return UNKNOWN;
  }
}

export const answers: Handlers = byName({
  ls: (call) => {
    const args = readArgs(call.words, 'IwT');
    if (args.has('d', 'directory')) return `${args.rest.join('\n')}\n`;
    // The name of a file comes back as it was given.
    const matched = args.rest.filter(
      (path) => hasGlob(path) || isSecretFile(call.path(path), call.context, false),
    );
    if (matched.length > 0) return `${matched.join('\n')}\n./${UNKNOWN}\n`;
    if (args.rest.some((path) => path !== '.')) {
      const names = args.rest.flatMap((path) => hiddenIn(call.path(path), call.context));
      return `./${UNKNOWN}\n${(args.has('a', 'A', 'all', 'almost-all') ? names : []).map((name) => `${name}\n`).join('')}`;
    }
    return args.has('a', 'A', 'all', 'almost-all') ? `./${STAR}\n./.${STAR}\n` : `./${STAR}\n`;
  },
  'jq yq': (call) => {
    const pair = /^--(arg|argjson|slurpfile|rawfile)$/;
    const words = call.words.filter((_, i, all) => !pair.test(all[i - 2] ?? ''));
    const args = readArgs(words, 'L', 'arg argjson slurpfile rawfile indent from-file');
    const [filter = '', ...paths] = args.rest;
    const text = contents(call, paths);
    const [given] = secretsIn(call.words.join(' '));
    if (given !== undefined && filter.includes('$')) return secretOf(given);
    if (/^\s*"(?:[^"\\]|\\["\\/])*"\s*$/.test(filter)) return `${JSON.parse(filter)}\n`;
    const [environ, name] = /(?:^|[|(,\s])(?:env|\$ENV)\b(?:\.(\w+))?/.exec(filter) ?? [];
    if (environ) return name ? variable(name) : PRIVATE;
    if (isPlain(text) && /^(\.\w+|\.?\[\d+\])+$/.test(filter)) return member(text, filter);
    if (args.has('n', 'null-input') && /\b(join|implode|base64d|ltrimstr|sub|gsub)\b/.test(filter))
      return DECODED;
    return text.replaceAll(UNKNOWN, '') === '' ? UNKNOWN : text;
  },
  expr: ({ words }) => (words.length === 1 ? `${words[0]}\n` : UNKNOWN),
  printenv: ({ words }) => {
    const names = words.filter((word) => !word.startsWith('-'));
    if (names.length === 0) return PRIVATE;
    return names.map(variable).join('\n');
  },
  yes: ({ words }) => `${words.length === 0 ? 'y' : words.join(' ')}\n${ENDLESS}`,
  pv: (call) => contents(call, readArgs(call.words, 'sLiDNB').rest),
  mktemp: (call) => {
    const args = readArgs(call.words, 'p', 'tmpdir suffix');
    const [template] = args.rest;
    const path = template?.includes('/')
      ? template
      : `${args.value('p', 'tmpdir') ?? '/tmp'}/${template ?? 'tmp.XXXX'}`;
    return `${path.replace(/X{3,}/, 'made-by-mktemp')}\n`;
  },
  tree: () => `./${UNKNOWN}\n`,
  pwd: ({ shell }) => `${shell.cwd}\n`,
  dirname: ({ words }) => {
    const path = words.at(-1) ?? '';
    if (!path.includes('/')) return isOpaque(path) ? `${path}\n` : '.\n';
    return `${path.replace(/\/+[^/]*\/*$/, '') || '/'}\n`;
  },
  basename: ({ words }) => `${(words[0] ?? '').replace(/\/+$/, '').split('/').at(-1)}\n`,
  'realpath readlink': (call) => `${call.path(readArgs(call.words).rest[0] ?? '.')}\n`,
  'type du': () => UNKNOWN,
  seq: ({ words }) => {
    const args = readArgs(words, 'fs', 'format separator');
    if (args.rest.some((word) => /^inf|^\d{10,}$/i.test(word))) return ENDLESS;
    const format = args.value('f', 'format');
    if (format !== undefined) return `${format.replace(/%[\d.]*[aefg]/gi, '1')}\n`;
    const last = args.rest.at(-1) ?? '';
    return args.rest.length < 3 && /^\d{2,}$/.test(last) ? `1\n${last}\n` : '1\n';
  },
  whoami: ({ shell }) => `${shell.world.context.home.split('/').at(-1)}\n`,
  date: (call) => {
    const args = readArgs(call.words, 'dfr', 'date file reference');
    if (args.has('s', 'set')) call.deny('system-config', 'sets the clock of the machine');
    // Lines that are no dates are shown in its errors.
    call.files('read', args.all('f', 'file'));
    const format = call.words.find((word) => word.startsWith('+'))?.slice(1);
    return format === undefined ? UNKNOWN : `${format.replace(/%[-_0^#]?\w/g, '1')}\n`;
  },
  'test [ true false : sleep': () => '',
  stat: (call) => {
    const args = readArgs(call.words, 'c', 'format printf');
    const format = args.value('c', 'format', 'printf');
    if (format === undefined) return UNKNOWN;
    return args.rest
      .map((path) => `${format.replace(/%(\w)/g, (_, letter) => (letter === 'n' ? path : UNKNOWN))}\n`)
      .join('');
  },
  file: (call) => {
    // The names to look at, which it repeats.
    call.files('read', readArgs(call.words, 'fFmPe').all('f'));
  },
});
