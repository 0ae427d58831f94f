import type { AgentAdapter } from '../adapter.ts';

/** Any other program: the prompt goes to its standard input, all that it prints is its text. */
export const custom: AgentAdapter = {
  name: 'custom',
  install: 'put the program that `agent.command` names on the PATH',
  reportsToolCalls: false,
  permits: {
    full: 'do what its own settings allow',
    edit: 'do what its own settings allow (ralph cannot limit it)',
    read: 'do what its own settings allow (ralph cannot limit it)',
  },
  canResume: false,
  takesSystemPrompt: false,
  endsWithoutResult: true,
  tested: [],
  command: ({ prompt, flags }) => ({ args: flags, stdin: prompt, env: {} }),
  newState: () => ({}),
  parse: (line) => [{ type: 'text', text: `${line}\n`, delta: true }],
};
