import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../../core/json.ts';
import type { FileChange } from '../../../system/file-changes.ts';
import { readText } from '../../../system/files.ts';
import { commandHooks, hookCommand, parseSettings, withHooks } from '../../hook/settings.ts';
import { changeOf, type HostInstaller, type InstallPlace } from '../../installer.ts';
import { claudeHooks } from './hooks.ts';

/** What is written under its short name; Claude Code knows the plugin's own only as `ralphkit:name`. */
const prompts = [
  ...['ralph-loop', 'ulw-loop', 'cancel-ralph', 'ralph-status', 'ralph-pause', 'ralph-resume'],
  ...['ralph-init', 'ralph-archive'],
]
  .map((name) => `commands/${name}.md`)
  .concat('skills/ralph-plan/SKILL.md');

/**
 * Hooks into the settings next to what is there, and the commands under their short names. In a project these are the
 * local settings: the hooks name a folder of this machine, which is nothing to share.
 */
export const claudeInstaller: HostInstaller = {
  install(place) {
    const viaPlugin = hasPlugin(place);
    const hooks = viaPlugin ? {} : commandHooks(claudeHooks, hookCommand(place));
    const own = prompts.map((path) => promptChange(place, path));
    const kept = own.filter(({ before, after }) => before !== null && before !== after);
    return {
      changes: [
        ...settingsFiles(place).map((path) =>
          changeOf(path, (before) =>
            path === settingsFile(place)
              ? withHooks(path, before, hooks)
              : before && withHooks(path, before, {}),
          ),
        ),
        ...own.filter((change) => !kept.includes(change)),
      ],
      notes: [
        ...(viaPlugin
          ? ['The ralphkit plugin is enabled and has the hooks: only the commands are written.']
          : []),
        ...kept.map(({ path }) => `${path} is there already and stays as it is.`),
        'Start a new session of Claude Code, then: /ralph-loop "task", or /ralph-plan for a PRD',
      ],
    };
  },
  uninstall(place) {
    const own = prompts.map((path) => promptChange(place, path));
    return {
      changes: [
        ...settingsFiles(place).map((path) =>
          changeOf(path, (before) => before && withHooks(path, before, {})),
        ),
        ...own.filter(({ before, after }) => before === after).map((change) => ({ ...change, after: null })),
      ],
      notes: [],
    };
  },
};

function claudeFolder({ scope, cwd, env }: InstallPlace): string {
  if (scope === 'project') return join(cwd, '.claude');
  return env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude');
}

function settingsFile(place: InstallPlace): string {
  return join(claudeFolder(place), place.scope === 'project' ? 'settings.local.json' : 'settings.json');
}

/** Where hooks may be: earlier versions wrote into the shared settings of a project. */
function settingsFiles(place: InstallPlace): string[] {
  return [...new Set([settingsFile(place), join(claudeFolder(place), 'settings.json')])];
}

function pluginFolder({ root }: InstallPlace): string {
  return join(root, 'plugins', 'claude-code');
}

function promptChange(place: InstallPlace, path: string): FileChange {
  // Outside of a plugin there is no CLAUDE_PLUGIN_ROOT: its scripts are called by what they stand for.
  const text = readText(join(pluginFolder(place), path))?.replace(
    /"\$\{CLAUDE_PLUGIN_ROOT\}\/scripts\/ralph-(\w+)\.sh"/g,
    'ralph prd $1',
  );
  return changeOf(join(claudeFolder(place), path), () => text ?? null);
}

/** Whether the plugin brings the hooks already: a second copy would only be in its way. */
function hasPlugin(place: InstallPlace): boolean {
  const files = (['user', 'project'] as const).flatMap((scope) => settingsFiles({ ...place, scope }));
  return files.some((path) => {
    const plugins = parseSettings(path, readText(path)).enabledPlugins;
    return (
      isObject(plugins) &&
      Object.entries(plugins).some(([name, on]) => on === true && name.startsWith('ralphkit@'))
    );
  });
}
