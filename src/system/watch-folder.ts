import { watch } from 'node:fs';

/**
 * Tells the names of files that change in a folder; the returned function ends it. Some file systems cannot be
 * watched: then nothing is told, so that whoever needs to know also looks now and then.
 */
export function watchFolder(folder: string, onChange: (name: string) => void): () => void {
  try {
    const watcher = watch(folder, (_, name) => onChange(name ?? ''));
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
