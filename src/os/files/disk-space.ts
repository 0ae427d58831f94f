import { existsSync, mkdirSync, rmdirSync, rmSync, statfsSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/error.ts';
import { attempt } from '../attempt.ts';
import { machineFailure } from './file-error.ts';
import { writeNew } from './files.ts';

/** Returns the bytes that are free where a folder is, or would be made; null if the system does not tell. */
export function freeBytes(folder: string): number | null {
  const disk = attempt(() => statfsSync(existingPart(folder)), null);
  return disk && disk.bavail * disk.bsize;
}

/** Tries to write where a folder is, or would be made, and leaves nothing. Returns the error, or null; throws if the machine has no more files to give. */
export function tryWriting(folder: string): string | null {
  const place = existingPart(folder);
  const path = join(place, `.ralph-write-test.${process.pid}.tmp`);
  try {
    if (place === folder) {
      writeNew(path, 'ok\n', 0o600, false);
      unlinkSync(path);
    } else {
      // A git that looks at the working copy right now does not see an empty folder.
      mkdirSync(path, 0o700);
      rmdirSync(path);
    }
    return null;
  } catch (error) {
    if (existsSync(path)) rmSync(path, { recursive: true });
    const limit = machineFailure(error);
    if (limit !== null) throw limit;
    return messageOf(error);
  }
}

function existingPart(folder: string): string {
  const above = dirname(folder);
  return existsSync(folder) || above === folder ? folder : existingPart(above);
}
