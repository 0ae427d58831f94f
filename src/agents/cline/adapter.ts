import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** Cline CLI. Its stream names no session that could be continued. */
export const cline: AgentAdapter = {
  name: 'cline',
  install: 'npm install -g cline',
  login: 'cline auth',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    read: 'only look and plan',
  },
  canResume: false,
  takesSystemPrompt: false,
  tested: ['3.0.65'],
  command,
  newState,
  parse,
};
