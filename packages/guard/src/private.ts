import { PRIVATE, UNKNOWN } from './marks.ts';
import type { Act, GuardContext, World } from './model.ts';
import { isSecretName } from './secret-names.ts';

/** Shows all variables, or a private file: harmful where a secret is among them, else a bad habit. */
export function wholeEnvironment({ context: { env }, hasLoaded }: World, what: string): Omit<Act, 'kind'> {
  const secret = hasLoaded ? 'what was loaded' : Object.keys(env).find(isSecretName);
  return {
    category: 'credentials',
    verdict: secret === undefined ? 'warn' : 'deny',
    what: secret === undefined ? what : `${what}, with ${secret}`,
    instead: 'Print the variables that you need, by name.',
  };
}

/** The names of variables are no secret, but a shell can look up what they are names of. */
export function namesOnly(text: string, { env }: GuardContext): string {
  return text.replaceAll(PRIVATE, () => [...Object.keys(env), UNKNOWN].join('\n'));
}
