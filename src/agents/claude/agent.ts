import { type Agent, usualPermits } from '../agent.ts';
import { anthropicAccount } from '../providers.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { hooks } from './hooks.ts';
import { newState, parse } from './parse.ts';
import { screen } from './screen.ts';
import { ownSession } from './session.ts';

/** Claude Code. */
export const claude: Agent = {
  name: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  login: 'claude auth login',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: true,
  tested: ['2.1.197', '2.1.325'],
  loginStatus: {
    words: ['auth', 'status'],
    loggedIn: /"loggedIn":\s*true/,
    loggedOut: /"loggedIn":\s*false/,
  },
  modelOption: '--model',
  accountVariables: [...anthropicAccount, 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'],
  headless: ['-p', '--print'],
  interactive: [],
  screen,
  ownSession,
  sandbox: {
    hosts: ['*.anthropic.com', 'claude.ai', '*.claude.ai', '*.claude.com'],
    variables: [
      ...['ANTHROPIC_*', 'CLAUDE_*', 'DISABLE_*'],
      ...['MAX_THINKING_TOKENS', 'API_TIMEOUT_MS', 'IS_SANDBOX'],
    ],
    settings: ['.claude/settings.json', '.claude/CLAUDE.md'],
    logins: ['.claude/.credentials.json'],
    sessions: { folder: '.claude/projects', files: /^[^/]+\/[^/]+\.jsonl$/ },
    moves: { CLAUDE_CONFIG_DIR: '.claude' },
    obeys: ['.claude', '.mcp.json'],
    projectSettings: ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
    hasTemplate: true,
  },
  hooks,
  guard,
  command,
  newState,
  parse,
};
