import type { AgentAdapter } from '../adapter.ts';
import { command } from './command.ts';
import { guard } from './guard.ts';
import { newState, parse } from './parse.ts';
import { skim } from './skim.ts';

/** Claude Code. */
export const claude: AgentAdapter = {
  name: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  login: 'claude auth login',
  reportsToolCalls: true,
  permits: {
    full: 'do everything without asking',
    edit: 'change files here, but run no other commands',
    read: 'only look',
  },
  canResume: true,
  takesSystemPrompt: true,
  tested: ['2.1.197', '2.1.325'],
  guard,
  command,
  newState,
  skim,
  parse,
};
