import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** GitHub Copilot CLI. Its stream tells no tokens. */
export const copilot: AgentAdapter = {
  name: 'copilot',
  install: 'npm install -g @github/copilot',
  reportsToolCalls: true,
  takesSystemPrompt: false,
  tested: ['1.0.102'],
  command,
  newState,
  parse,
};
