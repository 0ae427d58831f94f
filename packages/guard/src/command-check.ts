import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from './json.ts';
import { judgeCommand } from './judge.ts';
import type { Finding, GuardContext } from './model.ts';
import { printable, stdinLines } from './stdio.ts';
import { toldOf } from './verdicts.ts';

type Answer = {
  readonly guard: GuardContext;
  readonly json: boolean;
  readonly write: (text: string) => void;
};

/** Prints the verdict on one command; returns 1 where it is denied. */
export function check(command: string, { guard, json, write }: Answer): number {
  const finding = judgeCommand(command, guard);
  const { verdict, category, reason } = finding;
  const words = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  write(json ? `${JSON.stringify(toldOf(finding))}\n` : `${printable(words)}\n`);
  return verdict === 'deny' ? 1 : 0;
}

/** One command per line in, one verdict per line out, each at once: whoever asks may wait for it with the next line. */
export async function checkLines(guard: GuardContext, write: Answer['write']): Promise<number> {
  for (const lines of stdinLines()) {
    const verdicts = lines.filter((line) => line.trim() !== '').map((line) => verdictOn(line, guard));
    if (verdicts.length > 0) write(verdicts.join(''));
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
