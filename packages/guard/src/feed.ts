import type { Call } from './call.ts';
import { DECODED, NETWORK, UNKNOWN } from './marks.ts';

/** Gives text to something that runs it, unless nobody can know what it says. */
export function feed(call: Call, text: string, run: (text: string) => string): string {
  if (text.includes(NETWORK)) {
    call.deny('remote-code', 'runs what comes from the network');
    return UNKNOWN;
  }
  if (text.includes(DECODED)) {
    call.deny('obfuscation', 'runs what was decoded, so that nobody can read it');
    return UNKNOWN;
  }
  // Output of a program of the project, as in eval "$(direnv hook bash)": its author answers for it.
  if (text.replaceAll(UNKNOWN, '').trim() === '') return UNKNOWN;
  return run(text);
}

export function tryScript(call: Call, text: string): void {
  if (text.includes(' ')) feed(call, text, (source) => call.script(source));
}

/** Joins its words and gives them to a shell. */
export function joined(call: Call, words: readonly string[]): string {
  return feed(call, words.join(' '), (text) => call.script(text));
}
