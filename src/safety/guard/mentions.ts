import { PRIVATE } from './marks.ts';
import type { Call, Effect } from './model.ts';
import { isProjectFile, isSecretFile } from './paths.ts';

/** A shell that runs a private file prints what it does not understand; one that traces prints all of it. */
export function runsSecret(call: Call, file: string, traced: boolean): void {
  const path = call.path(file);
  if (!isSecretFile(path, call.shell.world.context, false)) return;
  if (traced || !/\/\.env(rc)?[^/]*$/.test(path)) call.file('read', file);
}

/** `export $(cat .env)` takes variables in, as `source .env` does: what was read for it is not shown. */
export function loadsVariables({ words, shell }: Call): void {
  if (!words.some((word) => word.includes(PRIVATE))) return;
  const { effects } = shell.world;
  let at = effects.length;
  while (at > 0 && loads.test(seenPath(effects[at - 1]))) at--;
  effects.splice(at);
}

/** The file itself, and where the output of the command goes. */
const loads = /\/\.env(\.[\w.-]+)?$|^\/dev\/null$/;

function seenPath(effect: Effect | undefined): string {
  return effect === undefined || effect.kind === 'act' ? '' : effect.path;
}

/** A program of which not all is known may do anything with a private file that it is given. */
export function mentionSecrets(call: Call, words: readonly string[]): void {
  const { context } = call.shell.world;
  for (const word of words) {
    const value = word.replace(/^-{1,2}[\w-]+=/, '').replace(/^@/, '');
    if (!/[/~]/.test(value)) continue;
    const path = call.path(value);
    if (!isProjectFile(path, context) && isSecretFile(path, context, false)) call.file('read', value);
  }
}
