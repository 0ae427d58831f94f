import { join } from 'node:path';
import { useCodeCache } from '../system/code-cache.ts';
import { printFile, printText } from '../system/print.ts';

/**
 * What both programs begin with. Kept tiny, because V8 reads every byte of a file, used or not: the version and the pages of
 * help need no other code.
 */
export function enter(program: 'ralph' | 'swarm', load: (words: readonly string[]) => unknown): void {
  const words = process.argv.slice(2);
  const last = words.at(-1);
  const asksForHelp = last === '--help' || last === '-h';
  if (words.length === 1 && (last === '--version' || last === '-v')) printText(`${program} ${__VERSION__}\n`);
  else if (asksForHelp && printPage([program, ...words.slice(0, -1)])) return;
  else {
    useCodeCache(__filename);
    load(words);
  }
}

/** The build writes a page for each command. */
function printPage(words: readonly string[]): boolean {
  return (
    words.every((word) => /^[a-z-]+$/.test(word)) &&
    printFile(join(__dirname, 'help', `${words.join('.')}.txt`))
  );
}
