import { sep } from 'node:path';
import { runPaths } from '../../config/paths.ts';
import { type AnyCommand, commandsIn, firstWords, type Option, type Program } from './spec.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** What a shell offers in a place: words, or something that it finds itself. */
export type Offer = readonly string[] | 'files' | 'programs' | 'runs' | 'nothing';

/** An option as it is typed. */
export type Flag = {
  /** All words that mean it, such as `-p` and `--prompt`. */
  readonly words: readonly string[];
  readonly help: string;
  readonly value: { readonly name: string; readonly offer: Offer; readonly optional: boolean } | null;
  readonly repeats: boolean;
};

/** A command as completion sees it. */
export type Place = {
  /** Two words for a command of a group. */
  readonly name: string;
  readonly flags: readonly Flag[];
  /** The words after it that are no options. */
  readonly offer: Offer;
};

/** What help calls a value tells what it can be. */
const offers: Readonly<Record<string, Offer>> = {
  FILE: 'files',
  COMMAND: 'programs',
  RUN: 'runs',
  SHELL: shells,
};

/** The journals of the runs here. Shells look for these themselves, because starting node for it takes too long. */
export const journals = runPaths('', '*').journal.replaceAll(sep, '/');

type Words = readonly [word: string, summary: string][];

/** A program as completion sees it. */
export type Table = {
  readonly name: string;
  readonly defaultCommand: string;
  /** What can stand first, and what it is about. */
  readonly words: Words;
  /** The groups, each with its words. */
  readonly groups: readonly (readonly [group: string, words: Words])[];
  readonly places: readonly Place[];
};

export function tableOf(program: Program): Table {
  const { name, defaultCommand = '', commands, groups = {} } = program;
  const first = firstWords(program);
  const topics = [...first.map(([word]) => word), ...Object.keys(program.topics)];
  return {
    name,
    defaultCommand,
    words: [...first, ['help', 'Show the help of a command or a topic.']],
    groups: Object.keys(groups).map((group) => [
      group,
      commandsIn(program, group).map(([word, { summary }]) => [word, summary]),
    ]),
    places: [
      ...Object.entries(commands).map(([command, spec]) => placeOf(command, spec)),
      { name: 'help', flags: [], offer: topics },
    ],
  };
}

function placeOf(name: string, spec: AnyCommand): Place {
  const flags = Object.entries<Option>(spec.options).flatMap(([long, option]) => flagsOf(long, option));
  const help = {
    words: ['-h', '--help'],
    help: 'show the options and examples',
    value: null,
    repeats: false,
  };
  const argument = spec.args?.[0]?.name ?? '';
  return { name, flags: [...flags, help], offer: offers[argument] ?? 'nothing' };
}

function flagsOf(long: string, option: Option): Flag[] {
  const { type, short, aliases = [], help } = option;
  const words = [
    ...(short === undefined ? [] : [`-${short}`]),
    ...[long, ...aliases].map((name) => `--${name}`),
  ];
  const flag = { words, help, value: valueFor(long, option), repeats: type === 'strings' };
  if (!option.negatable) return [flag];
  return [flag, { words: [`--no-${long}`], help: `switch --${long} off`, value: null, repeats: false }];
}

function valueFor(long: string, { type, value, choices }: Option): Flag['value'] {
  if (type === 'boolean') return null;
  const name = value ?? long;
  // A name in small letters is the value itself.
  const literal = value !== undefined && /^[a-z]+$/.test(value) ? [value] : undefined;
  return { name, offer: choices ?? literal ?? offers[name] ?? 'nothing', optional: type === 'optional' };
}
