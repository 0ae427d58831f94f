import { asText, DECODED, isOpaque, UNKNOWN } from './marks.ts';

/** Decodes a text; `DECODED` where the bytes are no readable text. */
export function decodeBase64(text: string): string {
  return readable(Buffer.from(text.replace(/\s/g, ''), 'base64'));
}

export function decodeHex(text: string): string {
  return readable(Buffer.from(text.replace(/[\s:]|0x|\\x/g, ''), 'hex'));
}

function readable(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text === '' || /[\uFFFD\uE000-\uE008]/.test(text) || text.includes('\0') ? DECODED : text;
}

const letters: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
};

/** Backslash escapes as echo -e, printf and most languages read them. */
export function unescapeText(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u\{?([0-9a-fA-F]{1,6})\}?|0?([0-7]{1,3})|(.))/gs,
    (whole: string, ...groups: string[]) => {
      const [hex, code, octal, char = ''] = groups;
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return letters[char] ?? whole;
    },
  );
}

export function printf(words: readonly string[]): string {
  const [format = '', ...values] = words[0] === '--' ? words.slice(1) : words;
  if (isOpaque(format)) return UNKNOWN;
  const directives =
    format.match(/%[-+ #0]*\d*(?:\.\d+)?[a-zA-Z%]/g)?.filter((one) => one !== '%%').length ?? 0;
  const rest = values.map(asText);
  let output = '';
  do {
    output += unescapeText(format).replace(/%[-+ #0]*\d*(?:\.\d+)?([a-zA-Z%])/g, (_, letter: string) => {
      if (letter === '%') return '%';
      const value = rest.shift() ?? '';
      return letter === 'b' ? unescapeText(value) : value;
    });
  } while (directives > 0 && rest.length > 0);
  return output;
}

export function size(text: string): number {
  const [, number = '0', unit = ''] = /^(\d+)([kKMGT]?)/.exec(text) ?? [];
  return Number(number) * 1024 ** ' kMGT'.indexOf(unit === 'K' ? 'k' : unit || ' ');
}
