import { type ParsedScript, parse } from 'unbash';

/** The parser looks for the end of each brace in a word to the end of the word: thousands would take it minutes. */
const deepestBraces = 300;

export function parseShell(source: string): ParsedScript {
  if (bracesIn(source) > deepestBraces) throw new RangeError('too many braces without an end');
  return parse(source);
}

function bracesIn(source: string): number {
  if (source.split('{', deepestBraces + 2).length <= deepestBraces) return 0;
  let open = 0;
  let most = 0;
  for (let at = 0; at < source.length; at++) {
    const char = source[at];
    if (char === '{') most = Math.max(most, ++open);
    else if (char === '}') open = Math.max(0, open - 1);
    else if (char === ' ' || char === '\n' || char === '\t') open = 0;
  }
  return most;
}
