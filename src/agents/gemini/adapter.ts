import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** Google Gemini CLI. */
export const gemini: AgentAdapter = {
  name: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  login: 'gemini, and choose how to log in',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files here, but run no other commands',
    read: 'only look',
  },
  canResume: true,
  takesSystemPrompt: false,
  tested: ['0.61.0'],
  command,
  newState,
  parse,
};
