import { type Agent, loginQuestion, trustQuestion, usualPermits } from '../agent.ts';
import { commandBy } from '../command.ts';
import { newState, parse } from './parse.ts';

/** GitHub Copilot CLI. Its stream reports no tokens. */
export const copilot: Agent = {
  name: 'copilot',
  install: 'npm install -g @github/copilot',
  login: 'copilot login',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: false,
  tested: ['1.0.102'],
  loginStatus: null,
  modelOption: '--model',
  accountVariables: ['GH_TOKEN', 'GITHUB_TOKEN'],
  headless: ['-p', '--prompt'],
  interactive: ['--interactive'],
  screen: {
    input: /^─{20,}\n❯/m,
    working: /^ . Working\b/m,
    footer: 1,
    speech: /^ ● (?!Request failed)/,
    permission: /Do you want to (?:run|allow|make)/,
    limit: /rate limit|usage limit|quota/i,
    loggedOut: /^ ✗ Authentication failed/,
    blockers: {
      [trustQuestion]: /Confirm folder trust/,
      [loginQuestion]: /Please use \/login|How would you like to sign in/,
    },
  },
  sandbox: {
    hosts: ['*.githubcopilot.com', 'api.github.com', 'github.com'],
    variables: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
    settings: ['.copilot/mcp-config.json'],
    logins: ['.copilot/config.json'],
    sessions: {
      folder: '.copilot/session-state',
      files: /^([^/]+\.jsonl|[^/]+\/(events\.jsonl|workspace\.yaml))$/,
    },
    moves: {},
    obeys: ['.copilot', '.github/copilot', '.github/hooks'],
    projectSettings: ['.github/copilot/settings.json', '.github/copilot/settings.local.json'],
    loads: ['.github/hooks'],
    hasTemplate: true,
  },
  hooks: null,
  guard: null,
  command: commandBy({
    output: { stream: ['--output-format', 'json'], text: ['--silent'], names: ['--output-format'] },
    // Without a terminal nobody can approve what is not allowed here. A denial also overrides saved approvals.
    permissions: {
      full: ['--allow-all'],
      edit: ['--allow-tool=write'],
      read: ['--deny-tool=write', '--deny-tool=shell'],
      // A denial of the user's does not replace ours: it is added to it.
      names: ['--allow-all', '--yolo', '--allow-all-tools', '--allow-tool'],
    },
    resume: (session) => [`--resume=${session}`],
  }),
  newState,
  parse,
};
