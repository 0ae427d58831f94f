import { setImmediate as nextTurn } from 'node:timers/promises';
import { RalphError } from '../core/error.ts';
import { isObject } from '../core/shape.ts';
import { toldOf } from '../safety/guard/check.ts';
import { explain as explainFinding } from '../safety/guard/explain.ts';
import { followCommand, judgeCommand } from '../safety/guard/judge.ts';
import { loadGuardContext } from '../safety/guard/load-context.ts';
import type { Finding, GuardContext } from '../safety/guard/model.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { readText } from '../system/files.ts';
import { stdinLines } from '../system/stdio.ts';
import { readCases, scoreCases } from './guard-score.ts';
import type { guardCheckOptions, guardOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function check(
  context: Context,
  { values, args }: Input<typeof guardCheckOptions>,
): number | Promise<number> {
  const guard = contextOf(context, values.attended);
  if (values.stdin) {
    if (args.length > 0) throw usage('a command is given, and --stdin wants them on standard input', 'check');
    return checkMany(context, guard);
  }
  const finding = judgeCommand(commandOf(args, 'check'), guard);
  const { verdict, category, reason } = finding;
  const words = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  context.stdout.write(values.json ? `${JSON.stringify(toldOf(finding))}\n` : `${cleanTerminal(words)}\n`);
  return verdict === 'deny' ? 1 : 0;
}

export function explain(context: Context, { values, args }: Input<typeof guardOptions>): number {
  const guard = contextOf(context, values.attended);
  const steps = explainFinding(followCommand(commandOf(args, 'explain'), guard), guard);
  context.stdout.write(cleanTerminal(steps));
  return 0;
}

export function test(context: Context, { values, args }: Input<typeof guardOptions>): number {
  const [file = ''] = args;
  const text = readText(file);
  if (text === null) throw usage(`${file} does not exist`, 'test');
  const cases = readCases(text);
  if (typeof cases === 'string') throw usage(`${file}: ${cases}`, 'test');
  const { report, wrong } = scoreCases(cases, contextOf(context, values.attended));
  context.stdout.write(cleanTerminal(report));
  return wrong === 0 ? 0 : 1;
}

function contextOf({ cwd, env }: Context, attended: boolean | undefined): GuardContext {
  return loadGuardContext(cwd, env, !attended);
}

function commandOf(words: readonly string[], action: string): string {
  const text = words.join(' ');
  if (text === '') throw usage('the command is missing', action);
  return text;
}

function usage(message: string, action: string): RalphError {
  const command = `ralph guard ${action}`;
  return new RalphError('usage', `${command}: ${message}`, { remedy: `${command} --help`, exitCode: 2 });
}

/** One command per line in, one verdict per line out, each at once: whoever asks may wait for it with the next line. */
async function checkMany({ stdout }: Context, guard: GuardContext): Promise<number> {
  for (const lines of stdinLines()) {
    const verdicts = lines.filter((line) => line.trim() !== '').map((line) => verdictOn(line, guard));
    if (verdicts.length > 0) stdout.write(verdicts.join(''));
    // Where nobody reads any more, this is the end.
    await nextTurn();
  }
  return 0;
}

/** What cannot be read is answered as what cannot be parsed. */
function verdictOn(line: string, guard: GuardContext): string {
  const command = commandIn(line);
  const finding: Finding =
    command === null
      ? {
          verdict: guard.unattended ? 'deny' : 'warn',
          category: 'unparsable',
          reason: 'this line is no JSON object with a text as its "command".',
        }
      : judgeCommand(command, guard);
  return `${JSON.stringify(toldOf(finding))}\n`;
}

function commandIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line.replace(/^\uFEFF/, ''));
    return isObject(value) && typeof value.command === 'string' ? value.command : null;
  } catch {
    return null;
  }
}
