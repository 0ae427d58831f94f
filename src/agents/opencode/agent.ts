import { type Agent, loginQuestion, usualPermits } from '../agent.ts';
import { anyAccount, openaiHosts } from '../providers.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { newState, parse } from './parse.ts';

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
  screen: {
    input: /\bctrl\+p commands\b/,
    working: /\besc (?:again to )?interrupt\b/,
    footer: 2,
    speech: /^ {5}\w/,
    permission: /△ Permission required/,
    question: /^\s*┃.*\benter (?:submit|confirm)\b.*\besc dismiss\b/m,
    limit: /limit .{0,40}\[retrying\b|usage limit has been reached/i,
    loggedOut: /^\s*┃\s+(?:invalid x-api-key|Unauthorized|API key is (?:missing|invalid)|Incorrect API key)/i,
    blockers: { [loginQuestion]: /Connect a provider/ },
    context: /\((\d+)%\)\s+ctrl\+p commands/,
  },
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
    projectSettings: ['', '.opencode/'].flatMap((at) => [`${at}opencode.json`, `${at}opencode.jsonc`]),
    loads: ['.opencode/plugin', '.opencode/plugins', '.opencode/tool', '.opencode/tools'],
    hasTemplate: true,
  },
  hooks: null,
  guard,
  command,
  newState,
  parse,
};
