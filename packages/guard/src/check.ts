import type { GuardPlace, GuardVerdict } from './check-types.ts';
import { withRarePrograms } from './commands/all.ts';
import { GuardError } from './error.ts';
import { judgeCommand } from './judge.ts';
import { loadGuardContext } from './load-context.ts';
import type { GuardContext } from './model.ts';
import { judgeToolCall } from './tool-call.ts';
import { toVerdict } from './verdicts.ts';

export function commandVerdict(command: string, place: GuardPlace): Promise<GuardVerdict> {
  requireText('checkCommand', 'the command', command);
  return withRarePrograms(() => toVerdict(judgeCommand(command, contextOf(place))));
}

export function toolCallVerdict(tool: string, input: unknown, place: GuardPlace): Promise<GuardVerdict> {
  requireText('checkToolCall', 'the name of the tool', tool);
  return withRarePrograms(() => toVerdict(judgeToolCall(tool, input, contextOf(place))));
}

function contextOf({ cwd = process.cwd(), env = process.env, ...place }: GuardPlace): GuardContext {
  return loadGuardContext(cwd, env, place.unattended ?? true, place.allowRules);
}

function requireText(name: string, what: string, value: unknown): void {
  if (typeof value === 'string') return;
  throw new GuardError('guard-input', `${name}: ${what} is no text`, `give ${name} ${what} as a string`);
}
