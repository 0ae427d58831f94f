#!/usr/bin/env node
// Kept tiny, like ralph.ts: the version answers without loading anything else.
const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
  process.stdout.write(`swarm ${__VERSION__}\n`);
} else {
  void import('./start.ts').then(({ start }) => start('swarm', words));
}
