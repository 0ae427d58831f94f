import { chmodSync, lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { attempt } from '../attempt.ts';
import { errorCode } from './file-error.ts';

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

/** Returns a path near `path` that no other process uses: in a `.ralph` beside or above it, where git ignores it. */
export function temporaryName(path: string): string {
  const folder = dirname(path);
  const device = deviceOf(folder);
  const own = [folder, dirname(folder)].map((each) => join(each, '.ralph'));
  const place = own.find((each) => device !== null && deviceOf(each) === device) ?? folder;
  return join(place, `.${basename(path)}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`);
}

/** Removes the temporary files in a folder whose process is dead. */
export function sweepTemporaryFiles(folder: string): void {
  if (deviceOf(folder) === null) return;
  for (const name of readdirSync(folder)) {
    const pid = /^\..+\.(\d+)\.[a-z0-9]+\.tmp$/.exec(name)?.[1];
    if (pid !== undefined && isGone(Number(pid))) unlinkSync(join(folder, name));
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

/** Returns the disk that a folder is on; null if it is none, or a link to one. */
function deviceOf(folder: string): number | null {
  const stat = attempt(() => lstatSync(folder), null);
  return stat?.isDirectory() ? stat.dev : null;
}
