import { existsSync, statfsSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../core/error.ts';
import { temporaryName, writeNew } from './files.ts';

/** Bytes that we can still write where a folder is, or would be made; null where the system does not tell. */
export function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(existingPart(folder));
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Writes a file where a folder is, or would be made, and removes it again. What was wrong, or null. */
export function tryWriting(folder: string): string | null {
  const file = temporaryName(join(existingPart(folder), 'ralph-write-test'));
  try {
    writeNew(file, 'ok\n', 0o600, false);
    unlinkSync(file);
    return null;
  } catch (error) {
    if (existsSync(file)) unlinkSync(file);
    return messageOf(error);
  }
}

function existingPart(folder: string): string {
  const above = dirname(folder);
  return existsSync(folder) || above === folder ? folder : existingPart(above);
}
