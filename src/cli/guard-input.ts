import { RalphError } from '../core/error.ts';
import { loadGuardContext } from '../safety/guard/load-context.ts';
import type { GuardContext } from '../safety/guard/model.ts';
import type { Context } from './spec.ts';

export function contextOf({ cwd, env }: Context, attended: boolean | undefined): GuardContext {
  return loadGuardContext(cwd, env, !attended);
}

export function commandOf(words: readonly string[], action: string): string {
  const text = words.join(' ');
  if (text === '') throw usage('the command is missing', action);
  return text;
}

export function usage(message: string, action: string): RalphError {
  const command = `ralph guard ${action}`;
  return new RalphError('usage', `${command}: ${message}`, { remedy: `${command} --help`, exitCode: 2 });
}
