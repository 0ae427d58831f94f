import type { GuardPlace, GuardVerdict } from './check-types.ts';
import { judgeCommand } from './judge.ts';
import { loadGuardContext } from './load-context.ts';
import type { GuardContext } from './model.ts';
import { judgeToolCall } from './tool-call.ts';
import { toldOf } from './verdicts.ts';

export function commandVerdict(command: string, place: GuardPlace): GuardVerdict {
  return toldOf(judgeCommand(command, contextOf(place)));
}

export function toolCallVerdict(tool: string, input: unknown, place: GuardPlace): GuardVerdict {
  return toldOf(judgeToolCall(tool, input, contextOf(place)));
}

function contextOf({ cwd = process.cwd(), env = process.env, unattended = true }: GuardPlace): GuardContext {
  return loadGuardContext(cwd, env, unattended);
}
