import { unescapeText } from './decode.ts';
import { asText, isOpaque, UNKNOWN } from './marks.ts';

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
