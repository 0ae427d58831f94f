import { createInterface } from 'node:readline';
import { isObject } from './json.ts';
import { judgeCommand } from './judge.ts';
import type { GuardContext } from './model.ts';
import { printable } from './stdio.ts';
import { toldOf } from './verdicts.ts';

type Answer = {
  readonly guard: GuardContext;
  readonly json: boolean;
  readonly write: (text: string) => void;
};

export function check(command: string, { guard, json, write }: Answer): number {
  const finding = judgeCommand(command, guard);
  const { verdict, category, reason } = finding;
  const words = reason === undefined ? verdict : `${verdict} (${category}): ${reason}`;
  write(json ? `${JSON.stringify(toldOf(finding))}\n` : `${printable(words)}\n`);
  return verdict === 'deny' ? 1 : 0;
}

/** Reads one command per line and prints one verdict per line, each at once: a caller may wait for it with the next. */
export async function checkLines(guard: GuardContext, write: Answer['write']): Promise<number> {
  for await (const line of createInterface({ input: process.stdin }))
    if (line.trim() !== '') write(verdictOn(line, guard));
  return 0;
}

function verdictOn(line: string, guard: GuardContext): string {
  const command = commandIn(line);
  if (command !== null) return `${JSON.stringify(toldOf(judgeCommand(command, guard)))}\n`;
  const verdict = guard.unattended ? 'deny' : 'warn';
  const reason = 'this line is no JSON object with a text as its "command".';
  return `${JSON.stringify({ verdict, category: 'unparsable', reason })}\n`;
}

function commandIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line.replace(/^\uFEFF/, ''));
    return isObject(value) && typeof value.command === 'string' ? value.command : null;
  } catch {
    return null;
  }
}
