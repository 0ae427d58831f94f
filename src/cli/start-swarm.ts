import { start } from './start.ts';
import { swarm } from './swarm-commands.ts';

export function startSwarm(words: readonly string[]): Promise<void> {
  return start(swarm, words);
}
