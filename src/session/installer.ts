import type { FileChange } from '../system/file-changes.ts';
import { readText } from '../system/files.ts';
import type { Environment } from '../system/program.ts';

/** Where and for whom a host is set up. */
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
  /** What the user has to know or do. */
  readonly notes: readonly string[];
};

/** How the hooks of a host are written into its settings and taken out again. Both only plan. */
export type HostInstaller = {
  install(place: InstallPlace): InstallPlan;
  uninstall(place: InstallPlace): InstallPlan;
};

/** The change of one file. */
export function changeOf(path: string, after: (before: string | null) => string | null): FileChange {
  const before = readText(path);
  return { path, before, after: after(before) };
}
