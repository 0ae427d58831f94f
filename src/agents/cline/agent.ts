import type { Agent } from '../agent.ts';
import { anyAccount, openaiHosts } from '../providers.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** Cline CLI. Its stream names no session that could be continued. */
export const cline: Agent = {
  name: 'cline',
  install: 'npm install -g cline',
  login: 'cline auth',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    read: 'only look and plan',
  },
  canResume: false,
  takesSystemPrompt: false,
  tested: ['3.0.65'],
  // Its status command needs a terminal.
  loginStatus: null,
  modelOption: '--model',
  accountVariables: anyAccount,
  headless: ['-y', '--yolo', '--json'],
  interactive: [],
  screen: {
    input: /^\s*❯ (?:Ask anything|What can I do)/m,
    working: /^ [\u2800-\u28ff] /m,
    footer: 20,
    speech: /^ \* /,
    permission: null,
    limit: /usage limit|Rate limit|quota/i,
    loggedOut: /^\W*(?:Error\b.*)?(?:Unauthorized|Invalid API key|401\b)/i,
    blockers: { 'an offer of its maker': /Press Enter to open, any other key to close/ },
  },
  sandbox: {
    hosts: ['*.cline.bot', '*.anthropic.com', ...openaiHosts, 'openrouter.ai'],
    variables: ['CLINE_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*'],
    settings: ['globalState.json', 'settings/providers.json', 'settings/cline_mcp_settings.json'].map(
      (name) => `.cline/data/${name}`,
    ),
    logins: ['.cline/data/secrets.json'],
    sessions: null,
    moves: {},
    obeys: ['.cline', '.clinerules'],
    projectSettings: [],
    loads: ['.cline/hooks', '.clinerules/hooks'],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command,
  newState,
  parse,
};
