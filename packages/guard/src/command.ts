import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { describeEffect, judgeEffect } from './classify.ts';
import { loadRarePrograms } from './commands/all.ts';
import { GuardError } from './error.ts';
import { isObject } from './json.ts';
import { followCommand, type Judgement, judgeCommand } from './judge.ts';
import { loadGuardContext } from './load-context.ts';
import { show } from './marks.ts';
import type { Effect, Environment, Finding, GuardContext } from './model.ts';
import { readCases, scoreCases } from './score.ts';
import { printable } from './stdio.ts';
import { toVerdict } from './verdicts.ts';

export { GuardError };

export type CommandPlace = {
  /** The words before the action, for messages: `guard`, or `ralph guard`. */
  readonly program: string;
  readonly cwd: string;
  readonly env: Environment;
  /** False if rules of the project may only forbid. */
  readonly allowRules?: boolean;
  readonly write: (text: string) => void;
};

/** Arguments of an action: the words after its options, and where to judge and print. */
type ActionInput = {
  readonly args: readonly string[];
  readonly json: boolean;
  readonly stdin: boolean;
  readonly guard: GuardContext;
  readonly place: CommandPlace;
  readonly refuse: (message: string) => never;
};

const options = {
  attended: { type: 'boolean' },
  json: { type: 'boolean' },
  stdin: { type: 'boolean' },
} as const;
const actions: Readonly<Record<string, (input: ActionInput) => Promise<number> | number>> = {
  check: runCheck,
  explain: runExplain,
  test: runTest,
};

/** Runs `ACTION [options] [words]` and returns the exit code. Fails with a `GuardError` where the words are wrong. */
export async function runCommand(words: readonly string[], place: CommandPlace): Promise<number> {
  const [name = '', ...rest] = words;
  const run = Object.hasOwn(actions, name) ? actions[name] : undefined;
  const start = run === undefined ? place.program : `${place.program} ${name}`;
  const refuse = (message: string): never => {
    throw new GuardError('usage', `${start}: ${message}`, `${start} --help`);
  };
  if (run === undefined)
    return refuse(name === '' ? 'the action is missing' : `there is no action "${name}"`);
  const { values, positionals } = parse(rest, refuse);
  const { attended = false, json = false, stdin = false } = values;
  if (name !== 'check' && (json || stdin)) refuse('--json and --stdin are for check');
  await loadRarePrograms();
  const guard = loadGuardContext(place.cwd, place.env, !attended, place.allowRules);
  return run({ args: positionals, json, stdin, guard, place, refuse });
}

function parse(args: string[], refuse: ActionInput['refuse']) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function runCheck({ args, json, stdin, guard, place, refuse }: ActionInput): Promise<number> | number {
  if (stdin && args.length > 0) refuse('a command is given, and --stdin wants them on standard input');
  if (stdin) return checkLines(guard, place.write);
  const finding = judgeCommand(commandOf(args, refuse), guard);
  const { verdict, category, reason } = finding;
  const words = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  place.write(json ? `${JSON.stringify(toVerdict(finding))}\n` : `${printable(words)}\n`);
  return verdict === 'deny' ? 1 : 0;
}

function runExplain({ args, guard, place, refuse }: ActionInput): number {
  const judgement = followCommand(commandOf(args, refuse), guard);
  place.write(printable(explain(judgement, guard)));
  return 0;
}

/** Prints the steps of a command as a tree, with the effects and the verdict of each. */
function explain({ steps, effects, verdict, category, reason }: Judgement, context: GuardContext): string {
  const lines = steps.flatMap(({ words, depth, effects: own }) => [
    `${'  '.repeat(depth)}${show(words.slice(0, 40).join(' ')).slice(0, 200).replaceAll('\n', '\\n')}`,
    ...own.map((effect) => `${'  '.repeat(depth + 1)}- ${judged(effect, context)}`),
  ]);
  const inSteps = new Set(steps.flatMap((step) => step.effects));
  const others = effects
    .filter((effect) => !inSteps.has(effect))
    .map((effect) => `- ${judged(effect, context)}`);
  const end = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  return `${[...lines, ...others, end].join('\n')}\n`;
}

function judged(effect: Effect, context: GuardContext): string {
  return `${describeEffect(effect)}: ${judgeEffect(effect, context).verdict}`;
}

function runTest({ args: [file, ...more], guard, place: { cwd, write }, refuse }: ActionInput): number {
  if (file === undefined || more.length > 0) return refuse('it wants one file');
  const path = resolve(cwd, file);
  if (!existsSync(path)) return refuse(`${file} does not exist`);
  const cases = readCases(readFileSync(path, 'utf8'));
  if (typeof cases === 'string') return refuse(`${file}: ${cases}`);
  const { report, wrong } = scoreCases(cases, guard);
  write(printable(report));
  return wrong === 0 ? 0 : 1;
}

function commandOf(args: readonly string[], refuse: ActionInput['refuse']): string {
  return args.join(' ') || refuse('the command is missing');
}

/** Reads one command per line and prints one verdict per line, each at once: a caller may wait for it with the next. */
async function checkLines(guard: GuardContext, write: CommandPlace['write']): Promise<number> {
  for await (const line of createInterface({ input: process.stdin }))
    if (line.trim() !== '') write(`${JSON.stringify(toVerdict(judgeLine(line, guard)))}\n`);
  return 0;
}

function judgeLine(line: string, guard: GuardContext): Finding {
  const command = commandIn(line);
  if (command !== null) return judgeCommand(command, guard);
  const verdict = guard.unattended ? 'deny' : 'warn';
  const reason = 'this line is no JSON object with a text as its "command".';
  return { verdict, category: 'unparsable', reason };
}

function commandIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line.replace(/^\uFEFF/, ''));
    return isObject(value) && typeof value.command === 'string' ? value.command : null;
  } catch {
    return null;
  }
}
