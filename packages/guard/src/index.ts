export type { Category } from './categories.ts';
export type { GuardPlace, GuardVerdict } from './check-types.ts';
export type { GuardError } from './error.ts';

import type { GuardPlace, GuardVerdict } from './check-types.ts';

/**
 * Says whether a shell command may run, with the rules of the project (`.ralph/guard.json`); fails where those are wrong.
 * The guard is loaded with the first call: whoever has no use for it does not wait for it.
 */
export async function checkCommand(command: string, place: GuardPlace = {}): Promise<GuardVerdict> {
  return (await import('./check.ts')).commandVerdict(command, place);
}

/** The same for a call of an agent's tool, by its name and input: `Bash`, `Write`, `apply_patch` and their like. */
export async function checkToolCall(
  tool: string,
  input: unknown,
  place: GuardPlace = {},
): Promise<GuardVerdict> {
  return (await import('./check.ts')).toolCallVerdict(tool, input, place);
}
