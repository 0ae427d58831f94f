import { dirname, join } from 'node:path';
import { hooks } from '../../agents/claude/hooks.ts';
import { isObject } from '../../core/json.ts';
import type { FileChange } from '../../os/files/file-changes.ts';
import { readText } from '../../os/files/files.ts';
import { loopCommands } from '../session/commands.ts';
import { changeOf, type HostInstaller, hooksChange, hooksFile, type InstallPlace } from './hook-installer.ts';
import { commandHooks, hookCommand, parseSettings } from './settings.ts';

/** Commands and skills to install under short names; Claude Code knows the plugin's own only as `ralphkit:name`. */
const prompts = [
  ...[...loopCommands, 'ralph-init', 'ralph-archive'].map((name) => `commands/${name}.md`),
  'skills/ralph-plan/SKILL.md',
];

/** Writes the hooks into the settings, next to what is there, and the commands under their short names. */
export const claudeInstaller: HostInstaller = {
  install(place) {
    const viaPlugin = hasPlugin(place);
    const ours = viaPlugin ? {} : commandHooks(hooks.events, hookCommand(place));
    const own = prompts.map((path) => promptChange(place, path));
    const foreign = own.filter(({ before, after }) => before !== null && before !== after);
    return {
      changes: [hooksChange(hooks, place, ours), ...own.filter((change) => !foreign.includes(change))],
      notes: [
        ...(viaPlugin
          ? ['The ralphkit plugin is enabled and has the hooks: only the commands are written.']
          : []),
        ...foreign.map(({ path }) => `${path} is there already and stays as it is.`),
        ...hooks.notes(place.scope),
      ],
    };
  },
  uninstall(place) {
    const own = prompts.map((path) => promptChange(place, path));
    return {
      changes: [
        hooksChange(hooks, place, {}),
        ...own.filter(({ before, after }) => before === after).map((change) => ({ ...change, after: null })),
      ],
      notes: [],
    };
  },
};

function claudeFolder(place: InstallPlace): string {
  return dirname(hooksFile(hooks, place));
}

function promptChange(place: InstallPlace, path: string): FileChange {
  // CLAUDE_PLUGIN_ROOT exists only in a plugin: calls the commands that its scripts stand for.
  const text = readText(join(place.root, 'plugins/claude-code', path))?.replace(
    /"\$\{CLAUDE_PLUGIN_ROOT\}\/scripts\/ralph-(\w+)\.sh"/g,
    'ralph prd $1',
  );
  return changeOf(join(claudeFolder(place), path), () => text ?? null);
}

function hasPlugin(place: InstallPlace): boolean {
  const files = (['user', 'project'] as const).flatMap((scope) => [
    hooksFile(hooks, { ...place, scope }),
    join(claudeFolder({ ...place, scope }), 'settings.json'),
  ]);
  return files.some((path) => {
    const plugins = parseSettings(path, readText(path)).enabledPlugins;
    return (
      isObject(plugins) &&
      Object.entries(plugins).some(([name, on]) => on === true && name.startsWith('ralphkit@'))
    );
  });
}
