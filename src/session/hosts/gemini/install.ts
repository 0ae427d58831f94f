import { homedir } from 'node:os';
import { join } from 'node:path';
import { commandHooks, guard, type HookEntry, withHooks } from '../../hook/settings.ts';
import { changeOf, type HostInstaller, type InstallPlace } from '../../installer.ts';

/** Timeouts are in milliseconds. */
const entries: Readonly<Record<string, HookEntry>> = {
  BeforeAgent: { file: 'prompt.cjs', startIf: 'command-or-loop', timeout: 60_000 },
  SessionStart: { file: 'session-start.cjs', startIf: 'any-loop', matcher: 'resume', timeout: 60_000 },
  BeforeTool: {
    file: guard,
    startIf: 'unattended',
    matcher: 'run_shell_command|read_file|read_many_files|grep_search|search_file_content|write_file|replace',
    timeout: 60_000,
  },
  AfterAgent: { file: 'stop.cjs', startIf: 'any-loop', timeout: 1_800_000 },
};

/** Hooks into settings.json, next to what is there. */
export const geminiInstaller: HostInstaller = {
  install(place) {
    const hooks = commandHooks(entries, join(place.root, 'plugins', 'gemini', 'hooks'), place.platform);
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
