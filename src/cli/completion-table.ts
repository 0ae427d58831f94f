import { sep } from 'node:path';
import { runPaths } from '../store/paths.ts';
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
  readonly summary: string;
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

/** What can stand after the program's name, `help` included. */
export function placesOf(program: Program): Place[] {
  const commands = Object.entries(program.commands).map(([name, spec]) => placeOf(name, spec));
  const topics = [...firstWords(program).map(([word]) => word), ...Object.keys(program.topics)];
  return [...commands, { name: 'help', summary: helpSummary, flags: [], offer: topics }];
}

const helpSummary = 'Show the help of a command or a topic.';

/** What can stand first, and what it is about. */
export function wordsOf(program: Program): [word: string, summary: string][] {
  return [...firstWords(program), ['help', helpSummary]];
}

/** The groups, each with its words. */
export function groupsOf(program: Program): [group: string, words: [word: string, summary: string][]][] {
  return Object.keys(program.groups ?? {}).map((group) => [
    group,
    commandsIn(program, group).map(([word, { summary }]) => [word, summary]),
  ]);
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
  return { name, summary: spec.summary, flags: [...flags, help], offer: offers[argument] ?? 'nothing' };
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
