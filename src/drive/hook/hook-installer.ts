import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentHooks } from '../../agents/agent.ts';
import type { FileChange } from '../../os/files/file-changes.ts';
import { changeOf, type HostInstaller, type InstallPlace } from '../session/installer.ts';
import { commandHooks, hookCommand, type Json, withHooks } from './settings.ts';

/** Writes the hooks of an agent into its settings, next to what is there. */
export function hookInstaller(hooks: AgentHooks): HostInstaller {
  return {
    install(place) {
      const ours = commandHooks(hooks.events, hookCommand(place, hooks.host.name), hooks.label);
      return { changes: [hooksChange(hooks, place, ours)], notes: hooks.notes(place.scope) };
    },
    uninstall: (place) => ({ changes: [hooksChange(hooks, place, {})], notes: [] }),
  };
}

/** Plans the settings: these hooks replace all earlier ones of ours. */
export function hooksChange(hooks: AgentHooks, place: InstallPlace, ours: Json): FileChange {
  const path = hooksFile(hooks, place);
  return changeOf(path, (before) => withHooks(path, before, ours));
}

export function hooksFile(
  { projectFile, userFile }: AgentHooks,
  { scope, cwd, env }: Pick<InstallPlace, 'scope' | 'cwd' | 'env'>,
): string {
  return scope === 'project' ? join(cwd, projectFile) : join(userFile(env, env.HOME || homedir()));
}
