import type { GuardPlace, GuardVerdict } from './check-types.ts';
import { judgeCommand } from './judge.ts';
import { loadGuardContext } from './load-context.ts';
import type { Finding, GuardContext } from './model.ts';
import { judgeToolCall } from './tool-call.ts';

export function commandVerdict(command: string, place: GuardPlace): GuardVerdict {
  return toldOf(judgeCommand(command, contextOf(place)));
}

export function toolCallVerdict(tool: string, input: unknown, place: GuardPlace): GuardVerdict {
  return toldOf(judgeToolCall(tool, input, contextOf(place)));
}

/** A finding with all of its fields, as JSON wants it. */
export function toldOf({ verdict, category, reason }: Finding): GuardVerdict {
  return { verdict, category: category ?? null, reason: reason ?? null };
}

function contextOf({ cwd = process.cwd(), env = process.env, unattended = true }: GuardPlace): GuardContext {
  return loadGuardContext(cwd, env, unattended);
}
