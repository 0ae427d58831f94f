import { type Agent, usualPermits } from '../agent.ts';
import { anyAccount, googleHosts, openaiHosts } from '../providers.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';
import { screen } from './screen.ts';

/** pi. */
export const pi: Agent = {
  name: 'pi',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  login: 'pi',
  reportsToolCalls: true,
  permits: usualPermits,
  canResume: true,
  takesSystemPrompt: true,
  tested: ['0.73.1'],
  loginStatus: {
    words: ['--list-models'],
    loggedIn: /^provider +model/m,
    loggedOut: /No models available/,
  },
  modelOption: '--model',
  accountVariables: anyAccount,
  headless: ['-p', '--print', '--mode'],
  interactive: [],
  screen,
  sandbox: {
    hosts: ['*.anthropic.com', ...openaiHosts, ...googleHosts, 'openrouter.ai'],
    variables: ['PI_*', 'ANTHROPIC_*', 'OPENAI_*', 'OPENROUTER_*', 'GEMINI_API_KEY'],
    settings: ['.pi/agent/models.json', '.pi/agent/settings.json', '.pi/agent/AGENTS.md'],
    logins: ['.pi/agent/auth.json'],
    sessions: { folder: '.pi/agent/sessions', files: /\.jsonl$/ },
    moves: {},
    obeys: ['.pi'],
    projectSettings: [],
    hasTemplate: false,
  },
  hooks: null,
  guard: null,
  command,
  newState,
  parse,
};
