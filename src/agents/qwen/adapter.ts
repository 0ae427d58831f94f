import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** Qwen Code. */
export const qwen: AgentAdapter = {
  name: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  login: 'qwen, and then /auth',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files here, but run no other commands',
    read: 'only look',
  },
  canResume: true,
  takesSystemPrompt: true,
  tested: ['0.15.10'],
  command,
  newState,
  parse,
};
