#!/usr/bin/env node
import { runCommand } from './command.ts';
import { GuardError } from './error.ts';
import { printable } from './stdio.ts';

const usage = `Judges shell commands before they run.

Usage:
  guard check [--json] [--attended] COMMAND    exit code 0 allows (or warns), 1 denies
  guard check --stdin [--json] [--attended]    one JSON {"command"} per line in, one verdict per line out
  guard explain [--attended] COMMAND           what the command would do, step by step
  guard test [--attended] FILE                 compares JSON lines with "command" and "verdict"; exit code 1 if one differs

Rules of the project stand in .ralph/guard.json. Wrong words or rules: exit code 2.
`;

async function main(words: readonly string[]): Promise<number> {
  if (words.slice(0, 2).some((word) => word === '--help' || word === '-h')) return print(usage);
  if (words[0] === '--version') return print(`${__VERSION__}\n`);
  return runCommand(words, { program: 'guard', cwd: process.cwd(), env: process.env, write: print });
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

// Where nobody reads any more, the command is over.
process.stdout.on('error', () => process.exit(0));

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`guard: ${printable(error instanceof Error ? error.message : String(error))}\n`);
    if (error instanceof GuardError) process.stderr.write(`  try: ${error.remedy}\n`);
    process.exitCode = error instanceof GuardError ? 2 : 70;
  },
);
