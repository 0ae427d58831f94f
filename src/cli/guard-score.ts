import { isObject } from '../core/shape.ts';
import { judgeCommand } from '../safety/guard/judge.ts';
import type { GuardContext } from '../safety/guard/model.ts';

/** Judges a corpus, one JSON object with `command` and `verdict` per line, and says how often the guard agrees. */
export function scoreCorpus(text: string, guard: GuardContext): { report: string; wrong: number } {
  const cases = text.split('\n').flatMap(readCase);
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

function readCase(line: string): { command: string; harmful: boolean }[] {
  if (line.trim() === '') return [];
  const value: unknown = JSON.parse(line);
  if (!isObject(value) || typeof value.command !== 'string') return [];
  return [{ command: value.command, harmful: value.verdict === 'deny' }];
}
