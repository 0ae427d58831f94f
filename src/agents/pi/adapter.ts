import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** pi. */
export const pi: AgentAdapter = {
  name: 'pi',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  login: 'pi, and then /login',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files here, but run no other commands',
    read: 'only look',
  },
  canResume: true,
  takesSystemPrompt: true,
  tested: ['0.73.1'],
  command,
  newState,
  parse,
};
