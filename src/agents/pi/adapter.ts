import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { newState, parse } from './parse.ts';

/** pi. */
export const pi: AgentAdapter = {
  name: 'pi',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  reportsToolCalls: true,
  takesSystemPrompt: true,
  tested: ['0.73.1'],
  command,
  newState,
  parse,
};
