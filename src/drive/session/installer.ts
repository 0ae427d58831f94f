import type { FileChange } from '../../os/files/file-changes.ts';
import { readText } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';

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
