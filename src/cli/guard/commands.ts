import { command } from '../kernel/spec.ts';
import { guardCheckOptions, guardOptions } from '../ralph/options.ts';

const guardDetails = 'Rules of the project stand in .ralph/guard.json. See docs/guard.md.';
const guardedCommand = [{ name: 'COMMAND', help: 'the command as one word', many: true }];

/** `ralph guard` */
export const guardCommands = {
  'guard check': command({
    summary: 'Say whether a shell command may run: exit code 0 allows, 1 denies.',
    args: guardedCommand,
    options: guardCheckOptions,
    examples: [
      ["ralph guard check 'rm -rf ~'", 'exit code 1 and the reason'],
      ['ralph guard check --json --stdin < commands.jsonl', 'many in one go'],
    ],
    details: guardDetails,
    isHere: true,
    load: async () => (await import('./guard.ts')).guardCommand('check'),
  }),
  'guard explain': command({
    summary: 'Show what a shell command would do, step by step.',
    args: guardedCommand,
    options: guardOptions,
    examples: [["ralph guard explain 'cd /tmp && rm -rf build'", 'each step and what it does']],
    details: guardDetails,
    isHere: true,
    load: async () => (await import('./guard.ts')).guardCommand('explain'),
  }),
  'guard test': command({
    summary: 'Compare the guard with verdicts of your own.',
    args: [{ name: 'FILE', help: 'JSON lines with "command" and "verdict"', required: true }],
    options: guardOptions,
    examples: [['ralph guard test corpus.jsonl', 'how often it agrees with them']],
    details: guardDetails,
    isHere: true,
    load: async () => (await import('./guard.ts')).guardCommand('test'),
  }),
};
