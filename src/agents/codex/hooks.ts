import type { AgentHooks } from '../agent.ts';
import { host } from './host.ts';

export const hooks: AgentHooks = {
  host,
  label: { statusMessage: 'ralph' },
  // Timeouts are in seconds; Codex gives an interrupt three at most.
  events: {
    UserPromptSubmit: { event: 'prompt', timeout: 60 },
    SessionStart: { event: 'session-start', matcher: 'compact|resume', timeout: 60 },
    // Tools that run commands or change files, and those of MCP servers.
    PreToolUse: { event: 'guard', matcher: '^(Bash|apply_patch|Edit|Write|mcp__.+)$', timeout: 60 },
    Stop: { event: 'stop', timeout: 1800 },
    Interrupt: { event: 'interrupt', timeout: 3 },
  },
  projectFile: '.codex/hooks.json',
  userFile: ({ CODEX_HOME }, home) => `${CODEX_HOME || `${home}/.codex`}/hooks.json`,
  notes: () => [
    'Codex skips hooks without a word until you trust them: start `codex`, choose "Trust all and continue" (or /hooks later).',
    '`codex exec` asks nothing: trust them first, or add --dangerously-bypass-hook-trust.',
    'Then, with a space before the slash, since the composer of Codex refuses commands that it does not know: " /ralph-loop "task""',
  ],
};
