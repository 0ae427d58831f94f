import { ralph } from './commands.ts';
import { start } from './start.ts';

export function startRalph(words: readonly string[]): Promise<void> {
  return start(ralph, words);
}
