import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentHooks } from '../../agents/agent.ts';
import { changeOf, type HostInstaller, type InstallPlace } from '../session/installer.ts';
import { commandHooks, hookCommand, withHooks } from './settings.ts';

/** Writes the hooks of an agent into its settings, next to what is there. */
export function hookInstaller(host: string, hooks: AgentHooks): HostInstaller {
  return {
    install(place) {
      const path = hooksFile(hooks, place);
      const ours = commandHooks(hooks.events, hookCommand(place, host));
      return {
        changes: [changeOf(path, (before) => withHooks(path, before, ours))],
        notes: hooks.notes(place.scope),
      };
    },
    uninstall(place) {
      const path = hooksFile(hooks, place);
      return { changes: [changeOf(path, (before) => before && withHooks(path, before, {}))], notes: [] };
    },
  };
}

export function hooksFile(
  { projectFile, userFile }: AgentHooks,
  { scope, cwd, env }: Pick<InstallPlace, 'scope' | 'cwd' | 'env'>,
): string {
  return scope === 'project' ? join(cwd, projectFile) : join(userFile(env, env.HOME || homedir()));
}
