import { parseArgs } from 'node:util';
import { parseDuration } from '../../core/duration.ts';
import { RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { Argument, Option, Options } from './spec.ts';

type Value = string | number | boolean | string[];
export type Parsed = { values: Record<string, Value>; args: string[]; help: boolean };
type LongName = { readonly name: string; readonly option: Option; readonly isNegated?: true };

/** A problem with the words; the message follows the name of the command. */
class Misuse extends Error {}

/** Parses the words after a command's name. Throws a usage error that names the nearest option for an unknown one. */
export function parse(
  words: readonly string[],
  spec: { options: Options; args?: readonly Argument[] },
  command: string,
): Parsed {
  try {
    return parseWords(words, spec.options, spec.args ?? []);
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    throw new RalphError('usage', `${command}: ${error.message}`, { remedy: `${command} --help` });
  }
}

function parseWords(words: readonly string[], options: Options, expected: readonly Argument[]): Parsed {
  const parsed: Parsed = { values: {}, args: [], help: false };
  const names = longNames(options);
  const tokens = tokensOf(words, names);
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'positional') parsed.args.push(token.value);
    // Node's parser takes the dash in `-V-` for the end of the options.
    if (token.kind === 'option-terminator' && words[token.index] !== '--')
      throw unknownOption('--', [...names.keys()]);
    if (token.kind !== 'option') continue;
    if (token.name === 'help') return { ...parsed, help: true };
    const match = names.get(token.name);
    if (match === undefined) throw unknownOption(token.rawName, [...names.keys()]);
    const { name, option, isNegated } = match;
    const isAttached = token.inlineValue && !token.rawName.startsWith('--');
    let text = isAttached ? token.value.replace(/^=/, '') : token.value;
    const next = tokens[index + 1];
    // Node's parser has no optional values.
    const mayFollow = option.type === 'optional' && !isNegated && text === undefined;
    if (mayFollow && next?.kind === 'positional' && next.value !== '-') {
      text = next.value;
      tokens.splice(index + 1, 1);
    }
    parsed.values[name] = readOption(match, token.rawName, text, parsed.values[name]);
  }
  checkArguments(parsed.args, expected);
  return parsed;
}

function tokensOf(words: readonly string[], names: ReadonlyMap<string, LongName>) {
  const config = [...names].map(([long, { name, option, isNegated }]) => {
    const takesValue = !isNegated && option.type !== 'boolean' && option.type !== 'optional';
    const letter = long.length === 1 ? long : long === name && option.short;
    const short = letter ? { short: letter } : {};
    return [long, { type: takesValue ? 'string' : 'boolean', ...short }] as const;
  });
  const help = { type: 'boolean', short: 'h' } as const;
  const options = { ...Object.fromEntries(config), help };
  return [...parseArgs({ args: [...words], options, strict: false, tokens: true }).tokens];
}

function readOption(
  { name, option, isNegated }: LongName,
  typed: string,
  text: string | undefined,
  before: Value | undefined,
): Value {
  if (isNegated || option.type === 'boolean') {
    const isAllowed = text === undefined || (!isNegated && ['true', 'false'].includes(text));
    if (!isAllowed) throw new Misuse(`${typed} takes no value`);
    if (!isNegated) return text !== 'false';
    // An option with a value gets the value `none`.
    return option.type === 'boolean' ? false : 'none';
  }
  if (option.type === 'optional' && !text) return '';
  if (text === undefined) throw new Misuse(`${typed} needs a value (${option.value ?? name})`);
  if (option.type === 'strings') return [...(Array.isArray(before) ? before : []), text];
  return readValue(option, typed, text);
}

function readValue(option: Option, typed: string, text: string): Value {
  const wrong = (expected: string) => new Misuse(`${typed} is "${text}", but has to be ${expected}`);
  if (option.choices && !option.choices.includes(text)) throw wrong(`one of ${option.choices.join(', ')}`);
  const number = Number(text);
  switch (option.type) {
    case 'count':
      if (/^\d+$/.test(text) && number >= 1 && Number.isSafeInteger(number)) return number;
      throw wrong('a whole number of 1 or more');
    case 'number':
      if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
      throw wrong('a number of 0 or more');
    case 'duration': {
      const ms = parseDuration(text);
      if (ms !== null) return ms;
      throw wrong('a duration such as 90s, 15m or 2h');
    }
    default:
      return text;
  }
}

function checkArguments(args: readonly string[], expected: readonly Argument[]): void {
  const missing = expected.slice(args.length).find((argument) => argument.required);
  if (missing) throw new Misuse(`${missing.name} is missing`);
  const extra = expected.at(-1)?.many ? undefined : args[expected.length];
  if (extra !== undefined) throw new Misuse(`"${extra}" is one word too many`);
}

function longNames(options: Options): Map<string, LongName> {
  const names = new Map<string, LongName>();
  for (const [name, option] of Object.entries(options)) {
    for (const long of [name, ...(option.aliases ?? [])]) names.set(long, { name, option });
    if (option.negatable) names.set(`no-${name}`, { name, option, isNegated: true });
  }
  return names;
}

function unknownOption(typed: string, names: readonly string[]): Misuse {
  const near = nearest(typed.replace(/^-+/, ''), names);
  return new Misuse(`there is no option ${typed}${near === null ? '' : `; did you mean --${near}?`}`);
}
