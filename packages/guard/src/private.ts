import { PRIVATE, UNKNOWN } from './marks.ts';
import type { Act, Category, GuardContext, World } from './model.ts';
import { isSecretName } from './secret-names.ts';

export function denial(category: Category, what: string, instead: string): Act {
  return { kind: 'act', category, verdict: 'deny', what, instead };
}

/** Denies showing all variables where a secret is among them, else warns. */
export function wholeEnvironment({ context: { env }, hasLoaded }: World, what: string): Act {
  const secret = hasLoaded ? 'what was loaded' : Object.keys(env).find(isSecretName);
  return {
    kind: 'act',
    category: 'credentials',
    verdict: secret === undefined ? 'warn' : 'deny',
    what: secret === undefined ? what : `${what}, with ${secret}`,
    instead: 'Print the variables that you need, by name.',
  };
}

/** Replaces private text by the names of variables, which a shell can look up again. */
export function namesOnly(text: string, { env }: GuardContext): string {
  return text.replaceAll(PRIVATE, () => [...Object.keys(env), UNKNOWN].join('\n'));
}
