#!/usr/bin/env node
// Kept tiny, because V8 reads every byte of a bundle, used or not: the version and the help page need no other code.
const words = process.argv.slice(2);
const only = words.length === 1 ? words[0] : '';
if (only === '--version' || only === '-v') process.stdout.write(`ralph ${__VERSION__}\n`);
else if (only === '--help' || only === '-h') process.stdout.write(__RALPH_HELP__);
else void import('./start.ts').then(({ start }) => start('ralph', words));
