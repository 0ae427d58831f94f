import { join } from 'node:path';
import { compileCacheFolder } from '../../config/paths.ts';
import { useCompileCache } from '../../os/process/compile-cache.ts';
import { printFile, writeStdio } from '../../os/process/stdio.ts';

/**
 * Start of both programs. It is tiny, because V8 reads every byte of a file, used or not: the version and the pages of help
 * need no other code.
 */
export function enter(program: 'ralph' | 'swarm', load: (words: readonly string[]) => unknown): void {
  const words = process.argv.slice(2);
  const last = words.at(-1);
  const asksForHelp = last === '--help' || last === '-h';
  if (/^(--version|-v)( --json)?$/.test(words.join(' '))) {
    const facts = { name: 'ralphkit', version: __VERSION__, node: process.versions.node };
    writeStdio(1, last === '--json' ? `${JSON.stringify(facts)}\n` : `${program} ${__VERSION__}\n`);
  } else if (asksForHelp && printPage([program, ...words.slice(0, -1)])) return;
  else {
    useCompileCache(compileCacheFolder(process.env));
    load(words);
  }
}

/** Prints the page that the build wrote for a command; false if there is none. */
function printPage(words: readonly string[]): boolean {
  return (
    words.every((word) => /^[a-z-]+$/.test(word)) &&
    printFile(join(__dirname, 'help', `${words.join('.')}.txt`))
  );
}
