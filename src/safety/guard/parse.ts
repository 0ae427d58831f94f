import { type ParsedScript, parse } from 'unbash';
import { parseSimple } from './parse-simple.ts';

/** What a shell reads in a text. The parser is large: the hook loads it only for what is not simple. */
export function parseShell(source: string): ParsedScript {
  return parseSimple(source) ?? parse(source);
}
