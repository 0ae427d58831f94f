import { type Agent, type LoginAround, loginQuestion, trustQuestion } from '../agent.ts';
import { openaiAccount, openaiHosts } from '../providers.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { hooks } from './hooks.ts';
import { newState, parse } from './parse.ts';

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
  screen: {
    banner: /OpenAI Codex/,
    input: /^› /m,
    working: /\besc to interrupt\b/,
    footer: 5,
    speech: /^• /,
    dialog: /\b(?:enter|esc)\/?(?:esc)? (?:continue|confirm)\b|[Pp]ress enter to (?:confirm|continue)/,
    permission: /Would you like to (?:run|make|grant)|Allow command\?|Allow Codex to/,
    limit: /hit your usage limit|Quota exceeded/,
    loggedOut: /^■ .*(?:\b401 Unauthorized\b|refresh token|sign in again|log in again)/i,
    blockers: {
      [trustQuestion]: /Trust this folder\?|Do you trust the contents of this directory|running Codex in/,
      [loginQuestion]: /Sign in with ChatGPT|Paste or type your API key/,
      'the choice of a model': /Try new model|Use existing model/,
    },
    contextLeft: /(\d+)% context left/,
    compacts: /Context compacted|Compacting/,
    turnEnd: /^\s*(?:─ )?Worked for |^■ /m,
  },
  sandbox: {
    hosts: openaiHosts,
    variables: ['OPENAI_*', 'CODEX_*'],
    settings: ['.codex/config.toml', '.codex/AGENTS.md'],
    logins: ['.codex/auth.json'],
    sessions: { folder: '.codex/sessions', files: /\.jsonl$/ },
    moves: { CODEX_HOME: '.codex' },
    obeys: ['.codex'],
    projectSettings: ['.codex/config.toml', '.codex/hooks.json'],
    loads: ['.codex/rules'],
    hasTemplate: true,
  },
  hooks,
  guard,
  command,
  newState,
  parse,
};

/** Finds logins other than OpenAI's own, which is all that Codex reports: other providers, or a key. */
function otherWay({ cwd, env, flags, readText }: LoginAround): string | null {
  if (env.CODEX_API_KEY) return 'CODEX_API_KEY is set';
  if (/model_provider|--oss|--profile|(^| )-p /.test(flags.join(' '))) return 'agent.flags choose a provider';
  const folders = [env.CODEX_HOME ?? `${env.HOME ?? ''}/.codex`, `${cwd}/.codex`];
  const providers = folders.map((folder) => providerIn(readText(`${folder}/config.toml`)));
  const provider = providers.find((name) => name !== undefined);
  return provider === undefined ? null : `config.toml chooses the provider ${provider}`;
}

function providerIn(config: string): string | undefined {
  return /^\s*model_provider\s*=\s*["'](?!openai["'])([^"']+)/m.exec(config)?.[1];
}
