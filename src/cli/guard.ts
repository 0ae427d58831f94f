import { RalphError } from '../core/error.ts';
import { isObject } from '../core/shape.ts';
import { explain } from '../safety/guard/explain.ts';
import { judgeCommand } from '../safety/guard/judge.ts';
import { loadGuardContext } from '../safety/guard/load-context.ts';
import type { Finding, GuardContext } from '../safety/guard/model.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { readText } from '../system/files.ts';
import { readStdin } from '../system/stdio.ts';
import { scoreCorpus } from './guard-score.ts';
import type { guardOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, { values, args }: Input<typeof guardOptions>): number {
  const [action = '', ...words] = args;
  const guard = loadGuardContext(context.cwd, context.env, !values.attended);
  const text = words.join(' ');
  if (action === 'check' && values.stdin) return checkMany(context, guard);
  if (text === '') throw usage(action === 'test' ? 'the FILE is missing' : 'the command is missing');
  switch (action) {
    case 'check':
      return check(context, judgeCommand(text, guard), values.json === true);
    case 'explain':
      context.stdout.write(cleanTerminal(explain(judgeCommand(text, guard), guard)));
      return 0;
    case 'test':
      return test(context, text, guard);
    default:
      throw usage(`there is no "${action}"; there are check, explain and test`);
  }
}

function usage(message: string): RalphError {
  return new RalphError('usage', `ralph guard: ${message}`, { remedy: 'ralph guard --help', exitCode: 2 });
}

function check({ stdout }: Context, finding: Finding, json: boolean): number {
  const { verdict, category, reason } = finding;
  const words = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  stdout.write(json ? `${JSON.stringify(told(finding))}\n` : `${cleanTerminal(words)}\n`);
  return verdict === 'deny' ? 1 : 0;
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

function test({ stdout }: Context, file: string, guard: GuardContext): number {
  const text = readText(file);
  if (text === null) throw usage(`${file} does not exist`);
  const { report, wrong } = scoreCorpus(text, guard);
  stdout.write(cleanTerminal(report));
  return wrong === 0 ? 0 : 1;
}
