import { type Agent, usualPermits } from '../agent.ts';
import { googleAccount, googleHosts } from '../providers.ts';
import { command } from './command.ts';
import { hooks } from './hooks.ts';
import { newState, parse } from './parse.ts';
import { screen } from './screen.ts';

/** Google Gemini CLI. */
export const gemini: Agent = {
  name: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  login: 'gemini',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: false,
  tested: ['0.61.0'],
  loginStatus: null,
  modelOption: '--model',
  accountVariables: googleAccount,
  headless: ['-p', '--prompt'],
  interactive: ['--prompt-interactive'],
  screen,
  sandbox: {
    hosts: googleHosts,
    variables: ['GEMINI_*', 'GOOGLE_*'],
    settings: ['settings.json', 'google_accounts.json', 'installation_id', 'GEMINI.md'].map(
      (name) => `.gemini/${name}`,
    ),
    logins: ['.gemini/oauth_creds.json'],
    sessions: { folder: '.gemini/tmp', files: /^[^/]+\/(chats\/[^/]+\.jsonl?|\.project_root)$/ },
    moves: {},
    obeys: ['.gemini'],
    projectSettings: ['.gemini/settings.json'],
    hasTemplate: true,
  },
  hooks,
  guard: null,
  command,
  newState,
  parse,
};
