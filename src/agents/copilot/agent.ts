import { type Agent, usualPermits } from '../agent.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';
import { screen } from './screen.ts';

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
  screen,
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
    projectSettings: [],
    hasTemplate: true,
  },
  hooks: null,
  guard: null,
  command,
  newState,
  parse,
};
