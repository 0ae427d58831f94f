import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { lstatOf, readJson } from '../../os/files/files.ts';
import { isOurs } from './settings.ts';

/** State of the ralph plugin of Anthropic, which is there while its loop goes on. */
const pluginState = '.claude/ralph-loop.local.md';
const settingsFiles = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.codex/hooks.json',
  '.gemini/settings.json',
];

/** Returns the file of a project that shows another loop by stop hooks. A hook counts if its command is named after one. */
export function otherLoopIn(cwd: string): string | undefined {
  if (lstatOf(join(cwd, pluginState))) return pluginState;
  return settingsFiles.find((file) => stopHooks(join(cwd, file)).some(isLoop));
}

function isLoop(hook: unknown): boolean {
  return isObject(hook) && /ralph|loop/i.test(String(hook.command)) && !isOurs(hook);
}

function stopHooks(path: string): unknown[] {
  const file = readJson(path);
  const hooks = file.ok && isObject(file.value) ? file.value.hooks : null;
  if (!isObject(hooks)) return [];
  const groups = [hooks.Stop, hooks.AfterAgent].flat();
  return groups.flatMap((group) => (isObject(group) ? group.hooks : []));
}
