import { RalphError } from '../core/error.ts';
import { isObject } from '../core/shape.ts';
import { explain as explainFinding } from '../safety/guard/explain.ts';
import { followCommand, judgeCommand } from '../safety/guard/judge.ts';
import { loadGuardContext } from '../safety/guard/load-context.ts';
import type { Finding, GuardContext } from '../safety/guard/model.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { readText } from '../system/files.ts';
import { readStdin } from '../system/stdio.ts';
import { scoreCorpus } from './guard-score.ts';
import type { guardCheckOptions, guardOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function check(context: Context, { values, args }: Input<typeof guardCheckOptions>): number {
  const guard = contextOf(context, values.attended);
  if (values.stdin) return checkMany(context, guard);
  const finding = judgeCommand(commandOf(args, 'check'), guard);
  const { verdict, category, reason } = finding;
  const words = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  context.stdout.write(values.json ? `${JSON.stringify(told(finding))}\n` : `${cleanTerminal(words)}\n`);
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
  const { report, wrong } = scoreCorpus(text, contextOf(context, values.attended));
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

function told({ verdict, category, reason }: Finding) {
  return { verdict, category: category ?? null, reason: reason ?? null };
}

/** One command per line in, one verdict per line out; a line that is no JSON gets an error in its place. */
function checkMany({ stdout }: Context, guard: GuardContext): number {
  const lines = readStdin()
    .split('\n')
    .filter((line) => line.trim() !== '');
  const verdicts = lines.map((line) => {
    const command = commandIn(line);
    return command === null
      ? { error: 'no JSON object with a "command"' }
      : told(judgeCommand(command, guard));
  });
  for (const verdict of verdicts) stdout.write(`${JSON.stringify(verdict)}\n`);
  return 0;
}

function commandIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value.command === 'string' ? value.command : null;
  } catch {
    return null;
  }
}
