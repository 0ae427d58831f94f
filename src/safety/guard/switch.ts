import type { Environment } from './model.ts';

/** Whether the guard has a say: in a loop that runs by itself, or always if the user wants it so. */
export function guardIsOn(env: Environment): boolean {
  return Boolean(env.RALPH_RUN_ID) || env.RALPH_GUARD === 'always';
}
