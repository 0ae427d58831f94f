import { type Agent, type LoginAround, usualPermits } from '../agent.ts';
import { screen as geminiScreen } from '../gemini/screen.ts';
import { openaiAccount } from '../providers.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** Qwen Code. */
export const qwen: Agent = {
  name: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  login: 'qwen auth',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: true,
  tested: ['0.15.10'],
  loginStatus: {
    words: ['auth', 'status'],
    loggedIn: /✓ Authentication Method: [^\n]*/,
    loggedOut: /No authentication method configured|Authentication Method: [^\n]*\(Incomplete\)/,
    otherWay: keyInEnvironment,
  },
  modelOption: '--model',
  accountVariables: [...openaiAccount, 'DASHSCOPE_API_KEY'],
  headless: ['-p', '--prompt'],
  interactive: ['--prompt-interactive'],
  screen: { ...geminiScreen, input: /^[>*!]\s+Type your message/m },
  sandbox: {
    hosts: [
      ...['chat.qwen.ai', 'portal.qwen.ai', 'openrouter.ai'],
      ...['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'coding.dashscope.aliyuncs.com'],
    ],
    variables: ['QWEN_*', 'OPENAI_*', 'DASHSCOPE_*'],
    settings: ['.qwen/settings.json', '.qwen/QWEN.md'],
    logins: ['.qwen/oauth_creds.json'],
    sessions: { folder: '.qwen', files: /^(projects|tmp)\/[^/]+\/chats\/[^/]+\.jsonl?$/ },
    moves: {},
    obeys: ['.qwen'],
    projectSettings: ['.qwen/settings.json'],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command,
  newState,
  parse,
};

function keyInEnvironment({ env }: LoginAround): string | null {
  const name = Object.keys(env).find((variable) => variable.endsWith('_API_KEY') && env[variable]);
  return name === undefined ? null : `${name} is set`;
}
