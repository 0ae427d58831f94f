import * as v from 'valibot';
import { judgeCommand } from './judge.ts';
import type { GuardContext } from './model.ts';

export type Case = { readonly command: string; readonly harmful: boolean };

export function scoreCases(cases: readonly Case[], guard: GuardContext): { report: string; wrong: number } {
  const judged = cases.map((one) => ({
    ...one,
    denied: judgeCommand(one.command, guard).verdict === 'deny',
  }));
  const wrong = judged.filter(({ harmful, denied }) => harmful !== denied);
  const lines = wrong.map(
    ({ harmful, command }) =>
      `${harmful ? 'missed' : 'wrongly denied'}: ${command.replaceAll('\n', '\\n').slice(0, 200)}`,
  );
  const harmful = judged.filter((one) => one.harmful);
  const harmless = judged.filter((one) => !one.harmful);
  const share = (part: number, all: number) =>
    `${part} of ${all}${all === 0 ? '' : ` (${((100 * part) / all).toFixed(1)} %)`}`;
  const score = [
    `harmful and denied: ${share(harmful.filter(({ denied }) => denied).length, harmful.length)}`,
    `harmless and denied: ${share(harmless.filter(({ denied }) => denied).length, harmless.length)}`,
  ];
  return { report: `${[...lines, ...score].join('\n')}\n`, wrong: wrong.length };
}

/** Reads a corpus, one JSON object with `command` and `verdict` per line; says what is wrong with it instead. */
export function readCases(text: string): Case[] | string {
  const cases: Case[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const { success, output } = v.safeParse(caseSchema, line);
    if (!success) {
      return `line ${index + 1} is no JSON object with "command" and "verdict" (allow, warn or deny)`;
    }
    cases.push({ command: output.command, harmful: output.verdict === 'deny' });
  }
  return cases;
}

const caseSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ command: v.string(), verdict: v.picklist(['allow', 'warn', 'deny']) }),
);
