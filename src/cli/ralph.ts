#!/usr/bin/env node
// Kept tiny: `ralph --version` loads nothing else (V8 reads every byte of a bundle, used or not).
const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
  process.stdout.write(`ralph ${__VERSION__}\n`);
} else {
  void import('./start.ts').then(({ start }) => start('ralph', words));
}
