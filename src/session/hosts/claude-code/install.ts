import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { messageOf, RalphError } from '../../../core/error.ts';
import { isObject } from '../../../core/shape.ts';
import type { FileChange } from '../../../system/file-changes.ts';
import { readText } from '../../../system/files.ts';
import { changeOf, type HostInstaller, type InstallPlace } from '../../installer.ts';
import { hookSettings } from './settings.ts';

const commands = ['ralph-loop', 'ulw-loop', 'cancel-ralph', 'ralph-status', 'ralph-pause', 'ralph-resume'];

/** Hooks into settings.json next to what is there, and the commands under their short names. */
export const claudeInstaller: HostInstaller = {
  install(place) {
    const viaPlugin = hasPlugin(place);
    const hooks = viaPlugin ? {} : hookSettings(join(pluginFolder(place), 'hooks'), place.platform);
    const own = commands.map((name) => commandChange(place, name));
    const kept = own.filter(({ before, after }) => before !== null && before !== after);
    return {
      changes: [
        changeOf(settingsFile(place), (before) => withHooks(settingsFile(place), before, hooks)),
        ...own.filter((change) => !kept.includes(change)),
      ],
      notes: [
        ...(viaPlugin
          ? ['The ralphkit plugin is enabled and has the hooks: only the commands are written.']
          : []),
        ...kept.map(({ path }) => `${path} is there already and stays as it is.`),
        'Start a new session of Claude Code, then: /ralph-loop "task"',
      ],
    };
  },
  uninstall(place) {
    const own = commands.map((name) => commandChange(place, name));
    return {
      changes: [
        changeOf(settingsFile(place), (before) => before && withHooks(settingsFile(place), before, {})),
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
  return join(claudeFolder(place), 'settings.json');
}

function pluginFolder({ root }: InstallPlace): string {
  return join(root, 'plugins', 'claude-code');
}

function commandChange(place: InstallPlace, name: string): FileChange {
  const text = readText(join(pluginFolder(place), 'commands', `${name}.md`));
  return changeOf(join(claudeFolder(place), 'commands', `${name}.md`), () => text);
}

/** The settings with these hooks and without any older ones of ours; all else stays. */
function withHooks(path: string, before: string | null, ours: Hooks): string | null {
  const settings = parse(path, before);
  const old = isObject(settings.hooks) ? settings.hooks : {};
  const hooks = merge(old, ours);
  if (JSON.stringify(hooks) === JSON.stringify(old)) return before;
  const { hooks: _hooks, ...others } = settings;
  const after = Object.keys(hooks).length === 0 ? others : { ...settings, hooks };
  const indent = /^([ \t]+)"/m.exec(before ?? '')?.[1] ?? '  ';
  return `${JSON.stringify(after, null, indent)}\n`;
}

type Hooks = Readonly<Record<string, unknown>>;

function merge(old: Hooks, ours: Hooks): Hooks {
  const merged = new Map<string, unknown>(Object.entries(old));
  for (const [event, groups] of Object.entries(old)) {
    if (!Array.isArray(groups)) continue;
    const kept = groups.flatMap(withoutOurs);
    if (kept.length === 0 && groups.length > 0) merged.delete(event);
    else merged.set(event, kept);
  }
  for (const [event, groups] of Object.entries(ours)) {
    const kept = merged.get(event);
    merged.set(event, [...(Array.isArray(kept) ? kept : []), ...(Array.isArray(groups) ? groups : [])]);
  }
  return Object.fromEntries(merged);
}

function withoutOurs(group: unknown): unknown[] {
  if (!isObject(group) || !Array.isArray(group.hooks)) return [group];
  const hooks = group.hooks.filter((hook) => !isOurs(hook));
  if (hooks.length === group.hooks.length) return [group];
  return hooks.length === 0 ? [] : [{ ...group, hooks }];
}

function isOurs(hook: unknown): boolean {
  if (!isObject(hook) || !Array.isArray(hook.args)) return false;
  const path = String(hook.args.at(-1)).replaceAll('\\', '/');
  return /\/plugins\/claude-code\/hooks\/(stop|prompt|session-start|guard|context-monitor)\.cjs$/.test(path);
}

function parse(path: string, text: string | null): Readonly<Record<string, unknown>> {
  if (text === null || text.trim() === '') return {};
  let value: unknown;
  let problem = 'it is not an object';
  try {
    value = JSON.parse(text);
  } catch (error) {
    problem = messageOf(error);
  }
  if (isObject(value)) return value;
  throw new RalphError(
    'settings-unreadable',
    `${path} is not valid JSON (${problem}), so nothing was changed.`,
    {
      remedy: `mend ${basename(path)} first`,
    },
  );
}

/** Whether the plugin brings the hooks already: a second copy would only be in its way. */
function hasPlugin(place: InstallPlace): boolean {
  return (['user', 'project'] as const).some((scope) => {
    const path = settingsFile({ ...place, scope });
    const plugins = parse(path, readText(path)).enabledPlugins;
    return (
      isObject(plugins) &&
      Object.entries(plugins).some(([name, on]) => on === true && name.startsWith('ralphkit@'))
    );
  });
}
