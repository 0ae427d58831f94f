import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder of our own; the real path, because git and agents report real paths. */
export function makeTempDir(prefix: string, where = tmpdir()): string {
  return realpathSync(mkdtempSync(join(where, prefix)));
}

/** Removes a folder that `makeTempDir` made. Windows may hold files for a moment after a process ended. */
export function removeTempDir(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
