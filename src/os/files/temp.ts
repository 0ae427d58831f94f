import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a new folder and returns its real path, because git and agents report real paths. */
export function makeTempDir(prefix: string, where = tmpdir()): string {
  return realpathSync(mkdtempSync(join(where, prefix)));
}

/** Removes a folder with retries: Windows may hold files for a moment after a process ended. */
export function removeTempDir(path: string): void {
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  try {
    remove();
  } catch {
    // Some programs close the folders that they make, such as the module cache of Go.
    openFolders(path);
    remove();
  }
}

function openFolders(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(folder, entry.name));
}
