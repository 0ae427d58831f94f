import { command } from '../kernel/spec.ts';
import { jsonOptions, sandboxExecOptions, sandboxOptions } from './options.ts';

/** `ralph sandbox` */
export const sandboxCommands = {
  'sandbox status': command({
    summary: 'Show which sandboxes work on this machine, and what is kept for this project.',
    options: jsonOptions,
    examples: [['ralph sandbox status', 'before the first ralph run --sandbox']],
    load: async () => ({ main: (await import('./sandbox.ts')).status }),
  }),
  'sandbox shell': command({
    summary: 'Open a shell in the sandbox of this project, to see what the agent sees.',
    options: sandboxExecOptions,
    examples: [['ralph sandbox shell', 'what can be read, written and reached?']],
    load: async () => ({ main: (await import('./sandbox.ts')).shell }),
  }),
  'sandbox exec': command({
    summary: 'Run a command in the sandbox of this project.',
    args: [{ name: 'COMMAND', help: 'the program and its words, after --', required: true, many: true }],
    options: sandboxExecOptions,
    examples: [
      ['ralph sandbox exec -- npm test', 'does it pass in there, too?'],
      ['ralph sandbox exec --agent claude -- claude -p hello', 'an agent by itself'],
    ],
    load: async () => ({ main: (await import('./sandbox.ts')).exec }),
  }),
  'sandbox rm': command({
    summary: 'Remove the sandbox of this project, with the home that it kept.',
    options: sandboxOptions,
    examples: [['ralph sandbox rm', 'the next run makes a new one']],
    load: async () => ({ main: (await import('./sandbox.ts')).rm }),
  }),
};
