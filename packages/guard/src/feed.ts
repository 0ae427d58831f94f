import type { Call } from './call.ts';
import { DECODED, NETWORK, UNKNOWN } from './marks.ts';
import { isProjectFile, isSecretFile } from './zones.ts';

/** Runs a text, unless it came from the network or a decoder: then that is denied. */
export function feed(call: Call, text: string, run: (text: string) => string): string {
  if (text.includes(NETWORK)) {
    call.deny('remote-code', 'runs what comes from the network');
    return UNKNOWN;
  }
  if (text.includes(DECODED)) {
    call.deny('obfuscation', 'runs what was decoded, so that nobody can read it');
    return UNKNOWN;
  }
  // Allows the output of a program that is not followed, as in eval "$(direnv hook bash)".
  if (text.replaceAll(UNKNOWN, '').trim() === '') return UNKNOWN;
  return run(text);
}

export function tryScript(call: Call, text: string): void {
  if (text.includes(' ')) feed(call, text, (source) => call.script(source));
}

export function joined(call: Call, words: readonly string[]): string {
  return feed(call, words.join(' '), (text) => call.script(text));
}

/** A shell that runs a private file prints lines that it does not understand, or all lines if it traces. */
export function runsSecret(call: Call, file: string, traced: boolean): void {
  const path = call.path(file);
  if (!isSecretFile(path, call.context, false)) return;
  if (traced || !/\/\.env(rc)?[^/]*$/.test(path)) call.file('read', file);
}

/** An unknown program may do anything with a private file that it is given. */
export function mentionSecrets(call: Call, words: readonly string[]): void {
  for (const word of words) {
    const value = word.replace(/^-{1,2}[\w-]+=/, '').replace(/^@/, '');
    if (!/[/~]/.test(value)) continue;
    const path = call.path(value);
    if (!isProjectFile(path, call.context) && isSecretFile(path, call.context, false))
      call.file('read', value);
  }
}
