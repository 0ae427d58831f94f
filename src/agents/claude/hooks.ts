import type { AgentHooks } from '../agent.ts';
import { runHooks } from './guard.ts';
import { host } from './host.ts';

export const hooks: AgentHooks = {
  host,
  // Timeouts are in seconds.
  events: {
    UserPromptExpansion: { event: 'prompt', timeout: 60 },
    UserPromptSubmit: { event: 'prompt', timeout: 60 },
    SessionStart: { event: 'session-start', timeout: 60 },
    ...runHooks,
  },
  // The local settings, since the hooks name a path of this machine.
  projectFile: '.claude/settings.local.json',
  userFile: ({ CLAUDE_CONFIG_DIR }, home) => `${CLAUDE_CONFIG_DIR || `${home}/.claude`}/settings.json`,
  notes: () => ['Start a new session of Claude Code, then: /ralph-loop "task", or /ralph-plan for a PRD'],
};
