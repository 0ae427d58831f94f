import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RalphError } from '../../core/error.ts';
import { readText } from '../../os/files/files.ts';

/** Returns the folder of this package, which has the built hooks; null in a copy without them. */
export function findPackageRoot(): string | null {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (readText(join(folder, 'plugins/claude-code/hooks/hooks.json')) === null) {
    if (folder === dirname(folder)) return null;
    folder = dirname(folder);
  }
  return folder;
}

/** Returns the folder of this package; throws in a copy without plugins. */
export function needPackageRoot(): string {
  const root = findPackageRoot();
  if (root !== null) return root;
  const message = 'this copy of ralphkit has no plugins folder';
  throw new RalphError('incomplete-package', message, { remedy: 'npm install -g ralphkit' });
}
