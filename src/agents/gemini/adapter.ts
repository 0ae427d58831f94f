import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** Google Gemini CLI. */
export const gemini: AgentAdapter = {
  name: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  reportsToolCalls: true,
  takesSystemPrompt: false,
  tested: ['0.61.0'],
  command,
  newState,
  parse,
};
