import type { Agent } from '../agent.ts';
import { openaiAccount, openaiHosts } from '../providers.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { hooks } from './hooks.ts';
import { otherWay } from './login.ts';
import { newState, parse } from './parse.ts';
import { screen } from './screen.ts';

/** OpenAI Codex CLI. */
export const codex: Agent = {
  name: 'codex',
  install: 'npm install -g @openai/codex',
  login: 'codex login',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files and run commands in its own sandbox, without network',
    read: 'look and run commands that change nothing',
  },
  canResume: true,
  takesSystemPrompt: false,
  tested: ['0.80.0', '0.166.0'],
  loginStatus: {
    words: ['login', 'status'],
    loggedIn: /Logged in[^\n]*|API key configured/,
    loggedOut: /Not logged in/,
    otherWay,
  },
  modelOption: '--model',
  accountVariables: [...openaiAccount, 'CODEX_HOME'],
  headless: ['exec', 'e', 'review'],
  interactive: [],
  screen,
  sandbox: {
    hosts: openaiHosts,
    variables: ['OPENAI_*', 'CODEX_*'],
    settings: ['.codex/config.toml', '.codex/AGENTS.md'],
    logins: ['.codex/auth.json'],
    sessions: { folder: '.codex/sessions', files: /\.jsonl$/ },
    moves: { CODEX_HOME: '.codex' },
    obeys: ['.codex'],
    projectSettings: ['.codex/config.toml', '.codex/hooks.json'],
    hasTemplate: true,
  },
  hooks,
  guard,
  command,
  newState,
  parse,
};
