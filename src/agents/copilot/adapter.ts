import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** GitHub Copilot CLI. Its stream tells no tokens. */
export const copilot: AgentAdapter = {
  name: 'copilot',
  install: 'npm install -g @github/copilot',
  login: 'copilot, and then /login',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files here, but run no other commands',
    read: 'only look',
  },
  canResume: true,
  takesSystemPrompt: false,
  tested: ['1.0.102'],
  command,
  newState,
  parse,
};
