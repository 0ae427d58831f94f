import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { newState, parse } from './parse.ts';

/** OpenCode. */
export const opencode: AgentAdapter = {
  name: 'opencode',
  install: 'npm install -g opencode-ai',
  login: 'opencode auth login',
  needsVersion: true,
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files here, but run no other commands',
    read: 'only look',
  },
  canResume: true,
  takesSystemPrompt: false,
  tested: ['1.2.27', '1.18.33'],
  guard,
  command,
  newState,
  parse,
};
