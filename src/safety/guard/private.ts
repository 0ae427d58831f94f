import { isSecretName } from '../secrets.ts';
import type { Act, GuardContext } from './model.ts';

/** Shows all variables, or a private file: harmful where a secret is among them, else a bad habit. */
export function wholeEnvironment({ env }: GuardContext, what: string): Omit<Act, 'kind'> {
  const secret = Object.keys(env).find(isSecretName);
  return {
    category: 'credentials',
    verdict: secret === undefined ? 'warn' : 'deny',
    what: secret === undefined ? what : `${what}, with ${secret}`,
    instead: 'Print the variables that you need, by name.',
  };
}
