import { parseDuration } from '../../core/duration.ts';
import { RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { Argument, Option, Options } from './spec.ts';

type Value = string | number | boolean | string[];
type Parsed = { values: Record<string, Value>; args: string[]; help: boolean };

/** Reads the words after the command's name. Throws a usage error with the nearest option for what it does not know. */
export function parse(
  words: readonly string[],
  spec: { options: Options; args?: readonly Argument[] },
  command: string,
): Parsed {
  const parsed: Parsed = { values: {}, args: [], help: false };
  const names = longNames(spec.options);
  const rest = [...words];
  while (rest.length > 0) {
    const word = rest.shift() ?? '';
    if (word === '--') {
      parsed.args.push(...rest);
      break;
    }
    if (word === '--help' || word === '-h') {
      parsed.help = true;
      return parsed;
    }
    if (word.startsWith('--')) readLong(word, rest);
    else if (word.startsWith('-') && word.length > 1) readShort(word, rest);
    else parsed.args.push(word);
  }
  checkArguments(parsed.args, spec.args ?? [], command);
  return parsed;

  function readLong(word: string, following: string[]): void {
    const equals = word.indexOf('=');
    const typed = equals === -1 ? word.slice(2) : word.slice(2, equals);
    const inline = equals === -1 ? undefined : word.slice(equals + 1);
    const found = names.get(typed);
    if (!found) throw unknownOption(`--${typed}`, [...names.keys()], command);
    const option = spec.options[found.name];
    if (!option) return;
    if (found.negated) {
      if (inline !== undefined) throw usage(`--${typed} takes no value`, command);
      // Of an option with a value, "no" is a value, too.
      parsed.values[found.name] = option.type === 'boolean' ? false : 'none';
      return;
    }
    set(found.name, option, `--${typed}`, inline, following);
  }

  function readShort(word: string, following: string[]): void {
    for (let i = 1; i < word.length; i++) {
      const letter = word[i] ?? '';
      const [name, option] = Object.entries(spec.options).find(([, o]) => o.short === letter) ?? [];
      if (name === undefined || option === undefined)
        throw unknownOption(`-${letter}`, [...names.keys()], command);
      if (option.type === 'boolean') {
        parsed.values[name] = true;
        continue;
      }
      const inline = word.slice(i + 1).replace(/^=/, '');
      set(name, option, `-${letter}`, inline === '' ? undefined : inline, following);
      return;
    }
  }

  function set(
    name: string,
    option: Option,
    typed: string,
    inline: string | undefined,
    following: string[],
  ): void {
    if (option.type === 'boolean') {
      if (inline !== undefined && !['true', 'false'].includes(inline))
        throw usage(`${typed} takes no value`, command);
      parsed.values[name] = inline !== 'false';
      return;
    }
    const next = following[0];
    if (option.type === 'optional') {
      const takesNext = inline === undefined && next !== undefined && !next.startsWith('-');
      const value = inline ?? (takesNext ? (following.shift() ?? '') : '');
      parsed.values[name] = value === '' ? '' : read(option, typed, value, command);
      return;
    }
    const text = inline ?? following.shift();
    if (text === undefined) throw usage(`${typed} needs a value (${option.value ?? name})`, command);
    const before = parsed.values[name];
    if (option.type === 'strings') parsed.values[name] = [...(Array.isArray(before) ? before : []), text];
    else parsed.values[name] = read(option, typed, text, command);
  }
}

function read(option: Option, typed: string, text: string, command: string): Value {
  if (option.choices && !option.choices.includes(text)) {
    throw usage(`${typed} is "${text}", but has to be one of ${option.choices.join(', ')}`, command);
  }
  switch (option.type) {
    case 'count': {
      if (!/^\d+$/.test(text) || Number(text) < 1 || !Number.isSafeInteger(Number(text))) {
        throw usage(`${typed} is "${text}", but has to be a whole number of 1 or more`, command);
      }
      return Number(text);
    }
    case 'number': {
      if (text.trim() === '' || !Number.isFinite(Number(text)) || Number(text) < 0) {
        throw usage(`${typed} is "${text}", but has to be a number of 0 or more`, command);
      }
      return Number(text);
    }
    case 'duration': {
      const ms = parseDuration(text);
      if (ms === null)
        throw usage(`${typed} is "${text}", but has to be a duration such as 90s, 15m or 2h`, command);
      return ms;
    }
    default:
      return text;
  }
}

function checkArguments(given: readonly string[], expected: readonly Argument[], command: string): void {
  const missing = expected.slice(given.length).find((argument) => argument.required);
  if (missing) throw usage(`${missing.name} is missing`, command);
  const extra = expected.at(-1)?.many ? undefined : given[expected.length];
  if (extra !== undefined) throw usage(`"${extra}" is one word too many`, command);
}

function longNames(options: Options): Map<string, { name: string; negated: boolean }> {
  const names = new Map<string, { name: string; negated: boolean }>();
  for (const [name, option] of Object.entries(options)) {
    for (const long of [name, ...(option.aliases ?? [])]) names.set(long, { name, negated: false });
    if (option.negatable) names.set(`no-${name}`, { name, negated: true });
  }
  return names;
}

function unknownOption(typed: string, known: readonly string[], command: string): RalphError {
  const near = nearest(typed.replace(/^-+/, ''), known);
  return usage(`there is no option ${typed}${near === null ? '' : `; did you mean --${near}?`}`, command);
}

function usage(message: string, command: string): RalphError {
  return new RalphError('usage', `${command}: ${message}`, { remedy: `${command} --help`, exitCode: 2 });
}
