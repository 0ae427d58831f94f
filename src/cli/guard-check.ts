import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '../core/json.ts';
import { judgeCommand } from '../safety/guard/judge.ts';
import type { Finding, GuardContext } from '../safety/guard/model.ts';
import { toldOf } from '../safety/guard/verdicts.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { stdinLines } from '../system/stdio.ts';
import { commandOf, contextOf, usage } from './guard-input.ts';
import type { guardCheckOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export async function check(
  context: Context,
  { values, args }: Input<typeof guardCheckOptions>,
): Promise<number> {
  const guard = contextOf(context, values.attended);
  if (values.stdin) {
    if (args.length > 0) throw usage('a command is given, and --stdin wants them on standard input', 'check');
    return checkMany(context, guard);
  }
  const command = commandOf(args, 'check');
  const finding = judgeCommand(command, guard);
  const { verdict, category, reason } = finding;
  const words = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  context.stdout.write(values.json ? `${JSON.stringify(toldOf(finding))}\n` : `${cleanTerminal(words)}\n`);
  return verdict === 'deny' ? 1 : 0;
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
