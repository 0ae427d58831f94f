import { type Agent, usualPermits } from '../agent.ts';
import { anyAccount, openaiHosts } from '../providers.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { newState, parse } from './parse.ts';
import { screen } from './screen.ts';

/** OpenCode. */
export const opencode: Agent = {
  name: 'opencode',
  install: 'npm install -g opencode-ai',
  login: 'opencode auth login',
  needsVersion: true,
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: false,
  tested: ['1.2.27', '1.18.33'],
  loginStatus: {
    words: ['auth', 'list'],
    loggedIn: /[1-9]\d* (?:credential|environment variable)s?/,
    // Its free models and keys in its configuration need no credentials, so that none proves nothing.
    loggedOut: null,
  },
  modelOption: '--model',
  accountVariables: anyAccount,
  headless: ['run'],
  interactive: ['--prompt'],
  screen,
  sandbox: {
    hosts: ['opencode.ai', '*.opencode.ai', 'models.dev', '*.anthropic.com', ...openaiHosts, 'openrouter.ai'],
    variables: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*', 'GEMINI_API_KEY'],
    settings: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
    logins: ['.local/share/opencode/auth.json'],
    sessions: {
      folder: '.local/share/opencode',
      files: /^(opencode\.db(-wal|-shm)?|storage\/(session|message|part|project)\/.+\.json)$/,
    },
    moves: { OPENCODE_CONFIG: null, OPENCODE_CONFIG_DIR: null },
    obeys: [
      // It writes a file into this directory, and fails if it cannot.
      { path: '.opencode', standIn: { content: null, scratch: true } },
      // It fails if these are directories.
      { path: 'opencode.json', standIn: { content: '{}\n' } },
      { path: 'opencode.jsonc', standIn: { content: '{}\n' } },
    ],
    projectSettings: ['opencode.json', 'opencode.jsonc'],
    hasTemplate: true,
  },
  hooks: null,
  guard,
  command,
  newState,
  parse,
};
