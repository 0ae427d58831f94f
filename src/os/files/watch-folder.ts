import { watch } from 'node:fs';
import { attempt } from '../attempt.ts';

/**
 * Calls back with the name of each file that changes in a folder; the returned function ends it. Returns null on
 * a file system that cannot be watched.
 */
export function watchFolder(folder: string, onChange: (name: string) => void): (() => void) | null {
  const watcher = attempt(() => watch(folder, (_, name) => onChange(name ?? '')), null);
  watcher?.on('error', () => watcher.close());
  return watcher && (() => watcher.close());
}
