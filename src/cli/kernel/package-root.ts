import { dirname, join } from 'node:path';
import { RalphError } from '../../core/error.ts';
import { lstatOf } from '../../os/files/files.ts';

/**
 * Returns the folder of the plugin for Claude Code, whose hooks and templates serve all hosts: that of this package, or the
 * one that this code is a part of. Null in a copy without it.
 */
export function findPlugin(): string | null {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const plugin = [folder, join(folder, 'plugins/claude-code')].find((each) =>
      lstatOf(join(each, 'hooks/hooks.json')),
    );
    if (plugin !== undefined) return plugin;
    if (folder === dirname(folder)) return null;
  }
}

export function needPlugin(): string {
  const plugin = findPlugin();
  if (plugin !== null) return plugin;
  const message = 'this copy of ralphkit has no plugins folder';
  throw new RalphError('incomplete-package', message, { remedy: 'npm run build in the clone of ralphkit' });
}

/** Returns the folder of this package; throws in a copy without plugins. */
export function needPackageRoot(): string {
  return dirname(dirname(needPlugin()));
}
