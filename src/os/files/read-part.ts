import { constants, readSync } from 'node:fs';
import { tryFile } from './open-file.ts';

/** Reads up to `length` bytes of a file; a negative `from` counts from its end. Null if there is no such file. */
export function readPart(path: string, from: number, length: number): Buffer | null {
  return tryFile(
    path,
    (fd, { size }) => {
      const bytes = Buffer.alloc(length);
      const start = from < 0 ? Math.max(0, size + from) : from;
      return bytes.subarray(0, readSync(fd, bytes, 0, length, start));
    },
    constants.O_NOFOLLOW ?? 0,
  );
}
