import type { Agent } from '../agent.ts';

/** Any other program: the prompt goes to its standard input, all that it prints is its text. */
export const custom: Agent = {
  name: 'custom',
  install: 'put the program that `agent.command` names on the PATH',
  login: null,
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
  loginStatus: null,
  modelOption: null,
  accountVariables: [],
  headless: [],
  interactive: null,
  screen: null,
  sandbox: {
    hosts: [],
    variables: [],
    settings: [],
    logins: [],
    moves: {},
    obeys: [],
    projectSettings: [],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command: ({ prompt, flags }) => ({ args: flags, stdin: prompt, env: {} }),
  newState: () => ({}),
  parse: (line) => [{ type: 'text', text: `${line}\n`, delta: true }],
};
