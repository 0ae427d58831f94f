import { watch } from 'node:fs';

/**
 * Calls back with the name of each file that changes in a folder; the returned function ends it. Returns null on
 * a file system that cannot be watched.
 */
export function watchFolder(folder: string, onChange: (name: string) => void): (() => void) | null {
  try {
    const watcher = watch(folder, (_, name) => onChange(name ?? ''));
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return null;
  }
}
