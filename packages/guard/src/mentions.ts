import type { Call } from './call.ts';
import { isProjectFile, isSecretFile } from './zones.ts';

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
