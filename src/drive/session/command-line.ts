import { parseDuration } from '../../core/duration.ts';
import type { PromiseMatch } from '../../core/loop.ts';
import { nearest } from '../../core/nearest.ts';

/** Policy for a claim without work: rejected, accepted with a warning, or accepted. */
type NoWorkPolicy = 'reject' | 'warn' | 'accept';

export type LoopOptions = {
  readonly maxIterations: number;
  readonly completionPromise: string;
  readonly minToolCalls: number;
  readonly onPromiseNoWork: NoWorkPolicy;
  readonly promiseMatch: PromiseMatch;
  readonly verify: readonly string[];
  readonly maxTimeMs: number | null;
};

type LoopCommand =
  | { readonly ok: true; readonly task: string; readonly options: LoopOptions }
  | { readonly ok: false; readonly message: string };

export const defaultLoopOptions: LoopOptions = {
  maxIterations: 50,
  completionPromise: 'DONE',
  minToolCalls: 1,
  onPromiseNoWork: 'reject',
  promiseMatch: 'claim',
  verify: [],
  maxTimeMs: null,
};

const loopUsage =
  '/ralph-loop "task" [--max-iterations N] [--completion-promise TEXT] [--min-tool-calls N] ' +
  '[--on-promise-no-work reject|warn|accept] [--promise-match claim|substring|lenient] [--verify CMD]... ' +
  '[--max-time 30m]';

/**
 * Parses the text after `/ralph-loop`. Flags stand before or after the task; the task is all the rest, byte for byte,
 * without one pair of quotes around the whole of it. Refuses a word that could be a flag or part of the task: a guess
 * could start another loop than the user asked for.
 */
export function parseLoopCommand(raw: string): LoopCommand {
  const words = wordsOf(raw);
  const before = readFlags(words, 0);
  const hasSeparator = isSeparator(words[before.next]);
  const first = hasSeparator ? before.next + 1 : before.next;
  const flagAt = hasSeparator ? -1 : words.findIndex(({ flag }, index) => index > first && flag !== null);
  const last = flagAt === -1 ? words.length : flagAt;
  const after = readFlags(words, last);
  const taskWords = words.slice(first, last);
  // A flag that lost its dashes behind a task in quotes.
  const bare = !hasSeparator && taskWords[0]?.quoted ? taskWords.find(isBareFlag) : undefined;
  return build(taskOf(raw, taskWords), [...before.flags, ...after.flags], words[after.next] ?? bare);
}

type Word = {
  readonly start: number;
  readonly end: number;
  /** The text without its quotes. */
  readonly text: string;
  /** The same as the value of a flag: in double quotes, a backslash keeps the next quote or backslash. */
  readonly value: string;
  readonly quoted: boolean;
  /** `--name` or `--name=value`, outside of quotes. */
  readonly flag: { readonly name: string; readonly value: string | null } | null;
};

type Flag = { readonly name: string; readonly value: string | null };

/** A quote counts only where a word begins, and ends only where a word ends: `don't` is a word. */
const wordPattern =
  /((?:--|[—–])[A-Za-z][\w-]*=)?(?:"([^"\\]*(?:\\[\s\S][^"\\]*)*)"(?=\s|$)|'([^']*)'(?=\s|$))|\S+/g;

function wordsOf(raw: string): Word[] {
  return [...raw.matchAll(wordPattern)].map((match) => {
    const [whole, flagStart, double, single] = match;
    const start = match.index;
    const quoted = double ?? single;
    const flagName = flagStart ?? (quoted === undefined ? whole : '');
    const [, dashes, word = '', , attached] = /^(--|[—–])([A-Za-z][\w-]*)(=([\s\S]*))?$/.exec(flagName) ?? [];
    // Some keyboards turn two dashes into one long dash.
    const isFlag = dashes === '--' || (dashes !== undefined && Object.hasOwn(settings, word));
    const value = double?.replace(/\\(["\\])/g, '$1') ?? single ?? whole;
    return {
      start,
      end: start + whole.length,
      text: quoted ?? whole,
      value,
      quoted: quoted !== undefined && flagStart === undefined,
      flag: isFlag ? { name: word, value: flagStart === undefined ? (attached ?? null) : value } : null,
    };
  });
}

/** Reads flags from this word on; `next` is the first word that belongs to none. */
function readFlags(words: readonly Word[], from: number): { flags: Flag[]; next: number } {
  const flags: Flag[] = [];
  let next = from;
  for (let word = words[next]; word?.flag; word = words[next]) {
    next++;
    const following = words[next];
    const takesNext = word.flag.value === null && following && !following.flag && !isSeparator(following);
    flags.push(takesNext ? { name: word.flag.name, value: following.value } : word.flag);
    if (takesNext) next++;
  }
  return { flags, next };
}

function isBareFlag({ text }: Word): boolean {
  return text.includes('-') && Object.hasOwn(settings, text.replace(/^-/, ''));
}

function isSeparator(word: Word | undefined): boolean {
  return word !== undefined && !word.quoted && word.text === '--';
}

function taskOf(raw: string, words: readonly Word[]): string {
  const [only, ...others] = words;
  if (only === undefined) return '';
  if (only.quoted && others.length === 0) return only.text;
  return raw.slice(only.start, others.at(-1)?.end ?? only.end);
}

const settings: Readonly<Record<string, (value: string) => Partial<LoopOptions> | string>> = {
  'max-iterations': (value) => {
    const number = wholeNumber(value, 1);
    return number === null ? 'wants a whole number from 1 on' : { maxIterations: number };
  },
  'completion-promise': (value) => {
    const token = value.trim();
    if (token === '') return 'must not be empty';
    if (/[<>\n]/.test(token)) return 'must be one line without < and >';
    if (/^(BLOCKED|DECIDE):/.test(token)) return 'must not begin with BLOCKED: or DECIDE:';
    return { completionPromise: token };
  },
  'min-tool-calls': (value) => {
    const number = wholeNumber(value, 0);
    return number === null ? 'wants a whole number from 0 on' : { minToolCalls: number };
  },
  'on-promise-no-work': (value) => {
    const policy = (['reject', 'warn', 'accept'] as const).find((word) => word === value);
    return policy === undefined ? 'wants reject, warn or accept' : { onPromiseNoWork: policy };
  },
  'promise-match': (value) => {
    const match = (['claim', 'substring', 'lenient'] as const).find((word) => word === value);
    return match === undefined ? 'wants claim, substring or lenient' : { promiseMatch: match };
  },
  verify: (value) => (value.trim() === '' ? 'wants a command' : { verify: [value] }),
  'max-time': (value) => {
    const ms = parseDuration(value);
    return ms ? { maxTimeMs: ms } : 'wants a duration such as 90s, 30m or 2h';
  },
};

function build(task: string, flags: readonly Flag[], stray: Word | undefined): LoopCommand {
  let options = defaultLoopOptions;
  const stranger = flags.find(({ name }) => !Object.hasOwn(settings, name));
  if (stranger) return failure(unknownFlag(stranger.name));
  if (stray) {
    const word = JSON.stringify(stray.text.slice(0, 60));
    return failure(
      `${word} is neither a flag nor the value of one: put the task in quotes, and a value of several words too.`,
    );
  }
  for (const { name, value } of flags) {
    const setting = settings[name];
    if (setting === undefined) return failure(unknownFlag(name));
    if (value === null) return failure(`--${name} needs a value.`);
    const change = setting(value);
    if (typeof change === 'string') return failure(`--${name} ${change}.`);
    options = { ...options, ...change, verify: [...options.verify, ...(change.verify ?? [])] };
  }
  if (task.trim() === '') return failure('The task is missing.');
  return { ok: true, task, options };
}

function unknownFlag(name: string): string {
  const near = nearest(name, Object.keys(settings));
  const advice =
    near === null ? 'if it belongs to the task, put the task in quotes' : `did you mean --${near}?`;
  return `There is no flag --${name}; ${advice}.`.replace('?.', '?');
}

function failure(problem: string): LoopCommand {
  return { ok: false, message: `${problem}\nUsage: ${loopUsage}` };
}

function wholeNumber(value: string, least: number): number | null {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return number >= least ? number : null;
}
