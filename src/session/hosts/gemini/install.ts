import { homedir } from 'node:os';
import { join } from 'node:path';
import { commandHooks, type HookEntry, hookCommand, withHooks } from '../../hook/settings.ts';
import { changeOf, type HostInstaller, type InstallPlace } from '../../installer.ts';

/** Timeouts are in milliseconds. */
const entries: Readonly<Record<string, HookEntry>> = {
  BeforeAgent: { event: 'prompt', timeout: 60_000 },
  SessionStart: { event: 'session-start', matcher: 'resume', timeout: 60_000 },
  BeforeTool: {
    event: 'guard',
    matcher: 'run_shell_command|read_file|read_many_files|grep_search|search_file_content|write_file|replace',
    timeout: 60_000,
  },
  AfterAgent: { event: 'stop', timeout: 1_800_000 },
};

/** Hooks into settings.json, next to what is there. */
export const geminiInstaller: HostInstaller = {
  install(place) {
    const hooks = commandHooks(entries, hookCommand(place, 'gemini'));
    return {
      changes: [changeOf(settingsFile(place), (before) => withHooks(settingsFile(place), before, hooks))],
      notes: [
        ...(place.scope === 'project' ? ['Gemini CLI runs hooks of a folder only where you trust it.'] : []),
        'Start a new session of Gemini CLI, then: /ralph-loop "task"',
      ],
    };
  },
  uninstall: (place) => ({
    changes: [
      changeOf(settingsFile(place), (before) => before && withHooks(settingsFile(place), before, {})),
    ],
    notes: [],
  }),
};

function settingsFile({ scope, cwd, env }: InstallPlace): string {
  const base = scope === 'project' ? cwd : env.GEMINI_CLI_HOME || env.HOME || homedir();
  return join(base, '.gemini', 'settings.json');
}
