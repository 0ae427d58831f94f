import { RalphError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import { listRuns } from '../../journal/runs.ts';
import type { noOptions } from '../ralph/options.ts';
import { completionScripts, shells } from './completion-scripts.ts';
import {
  type AnyCommand,
  type Context,
  commandsIn,
  firstWords,
  type Input,
  type Option,
  type Program,
} from './spec.ts';

/** A word that the shell may offer, and what it is about. */
type Offer = readonly [word: string, help: string];

/** The command `completion` of a program; the program's table cannot be imported here, because it imports this. */
export function completionOf(program: Program) {
  return {
    main({ cwd, stdout }: Context, { args }: Input<typeof noOptions>): void {
      const [name = '', ...words] = args;
      const shell = shells.find((one) => one === name);
      if (shell === undefined) throw unknownShell(name, program);
      stdout.write(
        words.length === 0 ? completionScripts[shell](program.name) : offerLines(program, words, cwd),
      );
    },
  };
}

function unknownShell(name: string, program: Program): RalphError {
  const near = nearest(name, shells);
  const hint = near === null ? `the shells are ${shells.join(', ')}` : `did you mean ${near}?`;
  return new RalphError('usage', `there is no completion for the shell "${name}"; ${hint}`, {
    remedy: `${program.name} completion ${near ?? 'bash'}`,
  });
}

/** A line `word TAB help` for each offer. `:files` and `:programs` ask the shell for its own completion of these. */
function offerLines(program: Program, typed: readonly string[], cwd: string): string {
  // bash cuts --name=value into three words, and then completes only the value.
  const isCut = typed.at(-1) === '=' || typed.at(-2) === '=';
  const words = typed
    .join('\0')
    .replace(/(--[^\0]*)\0=\0?/g, '$1=')
    .split('\0');
  const current = (words.pop() ?? '').replace(/^['"]/, '');
  const [, start = '', value = ''] = /^(--[^=]*=)(.*)$/s.exec(current) ?? [];
  const offers =
    start === ''
      ? offersAfter(program, words, current, cwd)
      : valueOffers(optionOf(specOf(program, words), start.slice(0, -1)), cwd);
  return offers
    .filter(([word]) => word.startsWith(':') || word.startsWith(start === '' ? current : value))
    .map(([word, help]) => `${isCut || word.startsWith(':') ? '' : start}${word}\t${help}\n`)
    .join('');
}

function offersAfter(
  program: Program,
  before: readonly string[],
  current: string,
  cwd: string,
): readonly Offer[] {
  const [first = ''] = before;
  const isOption = current.startsWith('-');
  if (before.length === 0 && isOption) {
    return [...flags(program.commands[program.defaultCommand ?? '']), ['--version', 'show the version']];
  }
  if (before.length === 0)
    return [...firstWords(program), ['help', 'Show the help of a command or a topic.']];
  if (first === 'help') {
    const topics = Object.entries(program.topics).map(([word, { summary }]): Offer => [word, summary]);
    return [...firstWords(program), ...topics];
  }
  if (before.length === 1 && program.groups?.[first] !== undefined) {
    return commandsIn(program, first).map(([word, { summary }]) => [word, summary]);
  }
  const spec = specOf(program, before);
  const option = optionOf(spec, before.at(-1) ?? '');
  const takesValue = option !== undefined && option.type !== 'boolean';
  if (takesValue && !(option.type === 'optional' && isOption)) return valueOffers(option, cwd);
  return isOption ? flags(spec) : offersFor(spec?.args?.[0]?.name ?? '', cwd);
}

function specOf({ commands, groups, defaultCommand = '' }: Program, words: readonly string[]) {
  const [first = '', second = ''] = words;
  if (first === '' || first.startsWith('-')) return commands[defaultCommand];
  return commands[groups?.[first] === undefined ? first : `${first} ${second}`];
}

function optionOf(spec: AnyCommand | undefined, word: string): Option | undefined {
  const options = Object.entries<Option>(spec?.options ?? {});
  return options.find((entry) => wordsOf(entry).includes(word))?.[1];
}

/** All words that mean an option, such as `-p` and `--prompt`. */
function wordsOf([long, { short, aliases = [] }]: readonly [string, Option]): string[] {
  const names = [long, ...aliases].filter((name) => name.length > 1);
  return [...(short === undefined ? [] : [`-${short}`]), ...names.map((name) => `--${name}`)];
}

function flags(spec: AnyCommand | undefined): Offer[] {
  if (spec === undefined) return [];
  const words = Object.entries<Option>(spec.options).flatMap((entry): Offer[] => {
    const [long, { help, negatable }] = entry;
    const off: Offer[] = negatable ? [[`--no-${long}`, `switch --${long} off`]] : [];
    return [...wordsOf(entry).map((word): Offer => [word, help]), ...off];
  });
  const help = 'show the options and examples';
  return [...words, ['-h', help], ['--help', help]];
}

function valueOffers(option: Option | undefined, cwd: string): readonly Offer[] {
  if (option?.choices) return option.choices.map((choice) => [choice, '']);
  const value = option?.value ?? '';
  // A name in small letters is the value itself.
  return /^[a-z]+$/.test(value) ? [[value, '']] : offersFor(value, cwd);
}

/** What a value can be, by its name in the help. */
function offersFor(value: string, cwd: string): readonly Offer[] {
  switch (value) {
    case 'FILE':
      return [[':files', '']];
    case 'COMMAND':
      return [[':programs', '']];
    case 'RUN':
      return ['latest', ...listRuns(cwd).reverse()].map((run) => [run, '']);
    case 'SHELL':
      return shells.map((shell) => [shell, '']);
    default:
      return [];
  }
}
