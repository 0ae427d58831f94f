import { type Args, readArgs } from '../argv.ts';
import type { Call, Handlers } from '../call.ts';
import { printf, size, unescapeText } from '../decode.ts';
import { asText, ENDLESS, isOpaque, isPlain, UNKNOWN } from '../marks.ts';
import { namesOnly } from '../private.ts';
import { contents, leavesNames, shows } from './contents.ts';
import { byName } from './rules.ts';

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

/** Denies input without end to a program that reads to the end. */
function needsEnd(call: Call, text: string): void {
  if (text.includes(ENDLESS)) call.deny('exhaustion', 'looks for the end of what has none', 'Use head -c.');
}

function toOutput(call: Call, args: Args, text: string): string {
  const target = args.value('o', 'output');
  return target === undefined ? text : call.save(target, text);
}

export const text: Handlers = byName({
  echo: ({ words }) => {
    if (!words[0]?.startsWith('-')) return `${words.map(asText).join(' ')}\n`;
    const first = words.findIndex((word) => !/^-[neE]+$/.test(word));
    const start = first === -1 ? words.length : first;
    const flags = words.slice(0, start).join('');
    const text = words.slice(start).map(asText).join(' ');
    return (flags.includes('e') ? unescapeText(text) : text) + (flags.includes('n') ? '' : '\n');
  },
  printf: ({ words }) => printf(words),
  'cat tac more most comm look xmllint': shows(''),
  'bat batcat': shows('lHr'),
  less: shows('pPo'),
  view: shows('cu'),
  nl: shows('bdfhilnpsvw'),
  head: shows('nc', lines('start')),
  tail: (call) => {
    if (call.words.includes('/dev/zero')) needsEnd(call, ENDLESS);
    return shows('nc', lines('end'))(call);
  },
  cut: (call) => {
    const args = readArgs(call.words, 'bcdf', 'delimiter fields characters bytes');
    const between = args.value('d', 'delimiter') ?? '\t';
    const fields = args.value('f', 'fields');
    const field = Number(fields);
    const [, after] = /^(\d+)-$/.exec(fields ?? '') ?? [];
    const [, first = '1', dash = '', last = ''] =
      /^(\d*)(-?)(\d*)$/.exec(args.value('c', 'b', 'characters', 'bytes') ?? '') ?? [];
    const part = (line: string) => {
      if (after !== undefined)
        return line
          .split(between)
          .slice(Number(after) - 1)
          .join(between);
      if (fields !== undefined)
        return field > 0 && line.includes(between) ? (line.split(between)[field - 1] ?? '') : line;
      const from = Number(first || 1) - 1;
      return line.slice(from, dash === '' ? from + 1 : last === '' ? undefined : Number(last));
    };
    if (leavesNames(call, args.rest, part)) return UNKNOWN;
    const text = contents(call, args.rest);
    if (between === '=' && field === 1) return namesOnly(text, call.context);
    return isPlain(text) ? text.split('\n').map(part).join('\n') : text;
  },
  'fold fmt': shows('w'),
  expand: shows('t'),
  paste: (call) => {
    const args = readArgs(call.words, 'd', 'delimiters');
    const files = args.rest.length === 0 ? ['-'] : args.rest;
    const columns = files.map((path) => contents(call, [path]).replace(/\n$/, '').split('\n'));
    const between = unescapeText(args.value('d', 'delimiters') ?? '\t')[0] ?? '';
    if (args.has('s', 'serial')) return columns.map((lines) => `${lines.join(between)}\n`).join('');
    if (columns.length < 2) return columns[0]?.join('\n') ?? '';
    const rows = Math.max(...columns.map((lines) => lines.length));
    const row = (_: unknown, i: number) => columns.map((lines) => lines[i] ?? '').join(between);
    return Array.from({ length: rows }, row).join('\n');
  },
  'iconv shuf': (call) => {
    const args = readArgs(call.words, 'ftoin', 'from-code to-code output input-range head-count');
    return toOutput(call, args, contents(call, args.rest));
  },
  column: shows('csoNHORTWE'),
  uniq: (call) => {
    const [from, target] = readArgs(call.words, 'fsw').rest;
    const text = contents(call, from === undefined ? [] : [from]);
    return target === undefined ? text : call.save(target, text);
  },
  pr: shows('lw'),
  od: shows('AjNStw'),
  hexdump: shows('efns'),
  hd: shows('ns'),
  strings: shows('nte'),
  diff: shows('UCIx'),
  cmp: shows('in'),
  join: shows('12aejotv'),
  sort: (call) => {
    const args = readArgs(call.words, 'okStT', 'output compress-program');
    for (const program of args.all('compress-program')) call.script(program);
    const text = contents(call, args.rest);
    needsEnd(call, text);
    return toOutput(call, args, text);
  },
  wc: () => UNKNOWN,
});
