import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AgentHooks } from '../../agents/agent.ts';
import type { FileChange } from '../../os/files/file-changes.ts';
import { readText } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';
import { commandHooks, hookCommand, type Json, withHooks } from './settings.ts';

/** Scope and folders of an installation. */
export type InstallPlace = {
  readonly scope: 'project' | 'user';
  readonly cwd: string;
  readonly env: Environment;
  /** The folder of the installed package. */
  readonly root: string;
  readonly platform: string;
};

export type InstallPlan = {
  readonly changes: readonly FileChange[];
  /** Notes for the user. */
  readonly notes: readonly string[];
};

/** Plans how the hooks of a host get into its settings, and out again. Writes nothing. */
export type HostInstaller = {
  install(place: InstallPlace): InstallPlan;
  uninstall(place: InstallPlace): InstallPlan;
};

/** Plans the change of one file. */
export function changeOf(path: string, after: (before: string | null) => string | null): FileChange {
  const before = readText(path);
  return { path, before, after: after(before) };
}

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
