import { existsSync, mkdirSync, rmdirSync, rmSync, statfsSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/error.ts';
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

/** Tries to write where a folder is, or would be made, and leaves nothing. What was wrong, or null. */
export function tryWriting(folder: string): string | null {
  const place = existingPart(folder);
  const path = temporaryName(join(place, 'ralph-write-test'));
  try {
    if (place === folder) {
      writeNew(path, 'ok\n', 0o600, false);
      unlinkSync(path);
    } else {
      // git may be looking at the working copy right now, and an empty folder is nothing to it.
      mkdirSync(path, 0o700);
      rmdirSync(path);
    }
    return null;
  } catch (error) {
    if (existsSync(path)) rmSync(path, { recursive: true });
    return messageOf(error);
  }
}

function existingPart(folder: string): string {
  const above = dirname(folder);
  return existsSync(folder) || above === folder ? folder : existingPart(above);
}
