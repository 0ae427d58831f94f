import { guardedTools } from '../../../agents/claude/guard.ts';
import type { HookEntry } from '../../hook/settings.ts';

/** The hooks of Claude Code by its own events; timeouts are in seconds. */
export const claudeHooks: Readonly<Record<string, HookEntry>> = {
  UserPromptExpansion: { event: 'prompt', timeout: 60 },
  UserPromptSubmit: { event: 'prompt', timeout: 60 },
  SessionStart: { event: 'session-start', timeout: 60 },
  PreToolUse: { event: 'guard', matcher: guardedTools, timeout: 60 },
  PostToolUse: { event: 'context', matcher: '.*', timeout: 60 },
  Stop: { event: 'stop', timeout: 1800 },
};
