import { homedir } from 'node:os';
import { join } from 'node:path';
import { commandHooks, type HookEntry, hookCommand, withHooks } from '../../hook/settings.ts';
import { changeOf, type HostInstaller, type InstallPlace } from '../../installer.ts';

/** Timeouts are in seconds; Codex gives an interrupt three at most. */
const entries: Readonly<Record<string, HookEntry>> = {
  UserPromptSubmit: { event: 'prompt', timeout: 60 },
  SessionStart: { event: 'session-start', matcher: 'compact|resume', timeout: 60 },
  // The tools of Codex that run commands or change files, and those of servers.
  PreToolUse: { event: 'guard', matcher: '^(Bash|apply_patch|Edit|Write|mcp__.+)$', timeout: 60 },
  Stop: { event: 'stop', timeout: 1800 },
  Interrupt: { event: 'interrupt', timeout: 3 },
};

/** Hooks into hooks.json, next to what is there. */
export const codexInstaller: HostInstaller = {
  install(place) {
    const hooks = commandHooks(entries, hookCommand(place, 'codex'));
    return {
      changes: [changeOf(hooksFile(place), (before) => withHooks(hooksFile(place), before, hooks))],
      notes: [
        'Codex skips hooks without a word until you trust them: start `codex`, choose "Trust all and continue" (or /hooks later).',
        '`codex exec` asks nothing: trust them first, or add --dangerously-bypass-hook-trust.',
        'Then, with a space before the slash, since the composer of Codex refuses commands that it does not know: " /ralph-loop "task""',
      ],
    };
  },
  uninstall: (place) => ({
    changes: [changeOf(hooksFile(place), (before) => before && withHooks(hooksFile(place), before, {}))],
    notes: [],
  }),
};

function hooksFile({ scope, cwd, env }: InstallPlace): string {
  if (scope === 'project') return join(cwd, '.codex', 'hooks.json');
  return join(env.CODEX_HOME || join(env.HOME || homedir(), '.codex'), 'hooks.json');
}
