import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { newState, parse } from './parse.ts';

/** OpenAI Codex CLI. */
export const codex: AgentAdapter = {
  name: 'codex',
  install: 'npm install -g @openai/codex',
  login: 'codex login',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files and run commands in its own sandbox, without network',
    read: 'look and run commands that change nothing',
  },
  canResume: true,
  takesSystemPrompt: false,
  tested: ['0.80.0', '0.166.0'],
  guard,
  command,
  newState,
  parse,
};
