import { type Agent, type LoginAround, usualPermits } from '../agent.ts';
import { commandBy } from '../command.ts';
import { screen as geminiScreen } from '../gemini/agent.ts';
import { openaiAccount } from '../providers.ts';
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
  tested: ['0.15.10', '0.24.4'],
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
    loads: ['.env', '.qwen/.env', '.qwen/extensions'],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command: commandBy({
    output: { stream: ['-o', 'stream-json'], text: ['-o', 'text'] },
    // `auto-edit` denies every command, `plan` denies changes as well.
    permissions: {
      full: ['--approval-mode', 'yolo'],
      edit: ['--approval-mode', 'auto-edit'],
      read: ['--approval-mode', 'plan'],
      // It prints its help and exits if the mode is given twice.
      names: ['--approval-mode', '--yolo', '-y'],
    },
    systemPrompt: '--append-system-prompt',
    resume: (session) => ['--resume', session],
  }),
  newState,
  parse,
};

function keyInEnvironment({ env }: LoginAround): string | null {
  const name = Object.keys(env).find((variable) => variable.endsWith('_API_KEY') && env[variable]);
  return name === undefined ? null : `${name} is set`;
}
