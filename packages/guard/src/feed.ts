import type { Call } from './call.ts';
import { DECODED, NETWORK, UNKNOWN } from './marks.ts';

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
