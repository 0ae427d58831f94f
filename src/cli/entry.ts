import { join } from 'node:path';
import { type CodeCache, useCodeCache } from '../system/code-cache.ts';
import { printFile, writeStdio } from '../system/stdio.ts';

/** By then a run waits for its agent, and what it took to get there has been compiled. */
const warmMs = 500;

/**
 * What both programs begin with. Kept tiny, because V8 reads every byte of a file, used or not: the version and the pages of
 * help need no other code.
 */
export function enter(program: 'ralph' | 'swarm', load: (words: readonly string[]) => unknown): void {
  const words = process.argv.slice(2);
  const last = words.at(-1);
  const asksForHelp = last === '--help' || last === '-h';
  if (words.length === 1 && (last === '--version' || last === '-v'))
    writeStdio(1, `${program} ${__VERSION__}\n`);
  else if (asksForHelp && printPage([program, ...words.slice(0, -1)])) return;
  else {
    keepLater(useCodeCache(require));
    load(words);
  }
}

/** A usage error has not come far enough for its code to be worth keeping. */
function keepLater({ keep }: CodeCache): void {
  setTimeout(keep, warmMs).unref();
  process.once('exit', (code) => (code === 0 || code === 1) && keep());
}

/** The build writes a page for each command. */
function printPage(words: readonly string[]): boolean {
  return (
    words.every((word) => /^[a-z-]+$/.test(word)) &&
    printFile(join(__dirname, 'help', `${words.join('.')}.txt`))
  );
}
