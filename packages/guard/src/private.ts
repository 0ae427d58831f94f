import type { Call } from './call.ts';
import { PRIVATE, UNKNOWN } from './marks.ts';
import type { Act, Category, GuardContext, World } from './model.ts';
import { isSecretName } from './secret-names.ts';
import { isProjectFile, isSecretFile } from './zones.ts';

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

/** A shell that runs a private file prints lines that it does not understand, or all lines if it traces. */
export function runsSecret(call: Call, file: string, traced: boolean): void {
  const path = call.path(file);
  if (!isSecretFile(path, call.shell.world.context, false)) return;
  if (traced || !/\/\.env(rc)?[^/]*$/.test(path)) call.file('read', file);
}

/** An unknown program may do anything with a private file that it is given. */
export function mentionSecrets(call: Call, words: readonly string[]): void {
  const { context } = call.shell.world;
  for (const word of words) {
    const value = word.replace(/^-{1,2}[\w-]+=/, '').replace(/^@/, '');
    if (!/[/~]/.test(value)) continue;
    const path = call.path(value);
    if (!isProjectFile(path, context) && isSecretFile(path, context, false)) call.file('read', value);
  }
}
