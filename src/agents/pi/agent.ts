import { type Agent, loginQuestion, usualPermits } from '../agent.ts';
import { commandBy } from '../command.ts';
import { anyAccount, googleHosts, openaiHosts } from '../providers.ts';
import { newState, parse } from './parse.ts';

/** pi, until 0.73 under the package name @mariozechner/pi-coding-agent. */
export const pi: Agent = {
  name: 'pi',
  install: 'npm install -g @earendil-works/pi-coding-agent',
  login: 'pi',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: true,
  tested: ['0.73.1', '0.87.1'],
  loginStatus: {
    words: ['--list-models'],
    loggedIn: /^provider +model/m,
    loggedOut: /No models available/,
  },
  modelOption: '--model',
  accountVariables: anyAccount,
  headless: ['-p', '--print', '--mode'],
  interactive: [],
  screen: {
    input: /\d%\/\d+k \(auto\)/,
    working: /^ [\u2800-\u28ff] /m,
    footer: 5,
    speech: /^ (?!Error)\w/,
    permission: null,
    limit: /Error: 429 |usage limit/i,
    loggedOut: /^ ?(?:Error: 401 |No API key found)/,
    blockers: { [loginQuestion]: /Use \/login/ },
    context: /(\d+(?:\.\d+)?)%\/\d+k \(auto\)/,
  },
  sandbox: {
    hosts: ['*.anthropic.com', ...openaiHosts, ...googleHosts, 'openrouter.ai'],
    variables: ['PI_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*', 'GEMINI_API_KEY'],
    settings: ['.pi/agent/models.json', '.pi/agent/settings.json', '.pi/agent/AGENTS.md'],
    logins: ['.pi/agent/auth.json'],
    sessions: { folder: '.pi/agent/sessions', files: /\.jsonl$/ },
    moves: {},
    obeys: ['.pi'],
    projectSettings: ['.pi/settings.json'],
    loads: ['.pi/extensions'],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command: commandBy({
    output: { stream: ['-p', '--mode', 'json'], text: ['-p', '--mode', 'text'] },
    // It never asks for permission: its tools are what it may do.
    permissions: {
      full: [],
      edit: ['--tools', 'read,edit,write,grep,find,ls'],
      read: ['--tools', 'read,grep,find,ls'],
    },
    systemPrompt: '--append-system-prompt',
    resume: (session) => ['--session', session],
  }),
  newState,
  parse,
};
