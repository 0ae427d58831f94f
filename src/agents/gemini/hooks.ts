import type { AgentHooks } from '../agent.ts';
import { host } from './host.ts';

export const hooks: AgentHooks = {
  host,
  label: { name: 'ralph' },
  // Timeouts are in milliseconds.
  events: {
    BeforeAgent: { event: 'prompt', timeout: 60_000 },
    SessionStart: { event: 'session-start', matcher: 'resume', timeout: 60_000 },
    BeforeTool: {
      event: 'guard',
      matcher:
        'run_shell_command|read_file|read_many_files|grep_search|search_file_content|write_file|replace',
      timeout: 60_000,
    },
    AfterAgent: { event: 'stop', timeout: 1_800_000 },
  },
  projectFile: '.gemini/settings.json',
  userFile: ({ GEMINI_CLI_HOME }, home) => `${GEMINI_CLI_HOME || home}/.gemini/settings.json`,
  notes: (scope) => [
    ...(scope === 'project' ? ['Gemini CLI runs hooks of a folder only where you trust it.'] : []),
    'Start a new session of Gemini CLI, then: /ralph-loop "task"',
  ],
};
