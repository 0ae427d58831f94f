import { explain as explainFinding } from '../safety/guard/explain.ts';
import { followCommand } from '../safety/guard/judge.ts';
import { cleanTerminal } from '../safety/terminal.ts';
import { readText } from '../system/files.ts';
import { commandOf, contextOf, usage } from './guard-input.ts';
import { readCases, scoreCases } from './guard-score.ts';
import type { guardOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

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
