import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readText } from '../../os/files/files.ts';

/** The folder of this package, which holds the built hooks; null in a copy without them. This file is somewhere in it. */
export function findPackageRoot(): string | null {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (readText(join(folder, 'plugins/claude-code/hooks/hooks.json')) === null) {
    if (folder === dirname(folder)) return null;
    folder = dirname(folder);
  }
  return folder;
}
