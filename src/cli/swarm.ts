#!/usr/bin/env node
// Kept tiny, like ralph.ts.
const words = process.argv.slice(2);
const only = words.length === 1 ? words[0] : '';
if (only === '--version' || only === '-v') process.stdout.write(`swarm ${__VERSION__}\n`);
else if (only === '--help' || only === '-h') process.stdout.write(__SWARM_HELP__);
else void import('./start.ts').then(({ start }) => start('swarm', words));
