import { type Agent, type AgentScreen, loginQuestion, trustQuestion, usualPermits } from '../agent.ts';
import { commandBy } from '../command.ts';
import { googleAccount, googleHosts } from '../providers.ts';
import { hooks } from './hooks.ts';
import { newState, parse } from './parse.ts';

/** Also the terminal of Qwen Code, which began as a copy. */
export const screen: AgentScreen = {
  input: /^\s*[>*!]\s+Type your message/m,
  working: /^\s*[\u2800-\u28ff] .*\besc to cancel\b/im,
  footer: 8,
  speech: /^✦ /,
  permission: /^.*(?:Allow execution of|Apply this change\?|Do you want to proceed\?|Allow once)/m,
  limit: /Usage limit reached|exhausted your .{0,40}quota|Quota exceeded|usage limit has been reached/i,
  loggedOut: /^\s*✕ .*(?:\b401\b|API key not valid|authentication_error|Incorrect API key)/i,
  blockers: {
    [trustQuestion]: /Do you trust (?:the files in )?this folder\?/,
    [loginQuestion]:
      /How would you like to authenticate|Select Authentication Method|Get started|Enter .{0,20}API Key|Enter the authorization code/,
    'the choice of a theme': /Select Theme|Apply To/,
  },
};

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
    loads: ['.env', '.gemini/.env', '.gemini/extensions'],
    hasTemplate: true,
  },
  hooks,
  guard: null,
  command: commandBy({
    output: {
      stream: ['-o', 'stream-json'],
      text: ['-o', 'text'],
      names: ['-o', '--output-format'],
    },
    // Without a terminal nobody can approve, so that `default` allows only tools that read.
    permissions: {
      full: ['--approval-mode', 'yolo'],
      edit: ['--approval-mode', 'auto_edit'],
      read: ['--approval-mode', 'default'],
      names: ['--approval-mode', '-y', '--yolo'],
    },
    resume: (session) => ['--resume', session],
    // It refuses to run in a directory without trust; older versions lack the flag `--skip-trust`.
    env: () => ({ GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  }),
  newState,
  parse,
};
