import { readArgs } from '../argv.ts';
import type { Handler, Handlers } from '../call.ts';
import { feed } from '../feed.ts';
import { follow } from '../foreign/follow.ts';
import { UNKNOWN } from '../marks.ts';
import { otherLanguage } from './other-languages.ts';
import { byName } from './rules.ts';

/** A program does what its source says, as far as that is a plain call with a text in it. */
const compile: Handler = (call) => {
  const args = readArgs(call.words, 'oxILD');
  const target = args.value('o');
  if (target !== undefined) call.file('write', target);
  for (const path of args.rest) {
    const source = path === '-' ? (call.stdin ?? UNKNOWN) : call.content(path);
    feed(call, source, (text) => {
      otherLanguage()(call.with({ words: [], stdin: text }));
      return follow(call, text, 'js');
    });
  }
};

export const compilers: Handlers = byName({
  'cc gcc g++ c++ clang clang++ tcc rustc javac': compile,
  java: (call) => (call.words.some((word) => word.endsWith('.java')) ? compile(call) : UNKNOWN),
  // Not a program: `go` hands `go run` to this entry.
  'go:run': compile,
});
