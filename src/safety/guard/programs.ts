import { builtins } from './builtins.ts';
import { handlerOf, programNames } from './commands/all.ts';
import { DECODED, hasGlob, mayMatch, NETWORK, UNKNOWN } from './marks.ts';
import { mentionSecrets } from './mentions.ts';
import type { Call } from './model.ts';

/** Says what a built-in or a program does, and answers with what it prints. */
export function perform(call: Call): string {
  const builtin = Object.hasOwn(builtins, call.name) ? builtins[call.name] : undefined;
  if (builtin) {
    const output = builtin(call);
    if (output !== null) return output;
  }
  const handler = handlerOf(call.name);
  if (handler) return handler(call) ?? UNKNOWN;
  mentionSecrets(call, call.words);
  writeOutput(call);
  return UNKNOWN;
}

/** Nearly every program that writes a file takes its name after -o. */
function writeOutput(call: Call): void {
  call.words.forEach((word, i) => {
    const [, inline] = /^--?o(?:ut(?:put|file)?)?=(.+)$/.exec(word) ?? [];
    const target =
      inline ?? (/^(-o|--?out|--output|--outfile|--output-file)$/.test(word) ? call.words[i + 1] : '');
    if (target && /^[/~]|^\.\.\//.test(target)) call.file('write', target);
  });
}

const mostGuesses = 50_000;

/** The name is known only in part: every program that it may stand for counts. */
export function runUnknown(first: string, call: Call): string {
  if (first.includes(NETWORK) || first.includes(DECODED)) {
    call.act(
      'deny',
      'obfuscation',
      'runs a command whose name is decoded or downloaded',
      'Write the command out.',
    );
    return UNKNOWN;
  }
  const name = first.slice(first.lastIndexOf('/') + 1);
  const candidates = hasGlob(name)
    ? programNames().filter((known) => mayMatch(name, known))
    : guesses(call.words);
  // A few words for any program are honest, thousands for every program are not.
  if (candidates.length * call.words.length > mostGuesses)
    throw new RangeError('too many programs and words to follow');
  for (const candidate of candidates) perform(call.with({ name: candidate }));
  return UNKNOWN;
}

function guesses(words: readonly string[]): string[] {
  if (words.some((word) => /^-\w*c$/.test(word))) return ['bash'];
  return words.some((word) => /^-[rRfv]*[rR][rRfv]*$/.test(word)) ? ['rm'] : [];
}
