import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** So many bytes of a file from there on, fewer at its end; null where there is no such file. Below 0 counts from its end. */
export function readPart(path: string, from: number, length: number): Buffer | null {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return null;
    const bytes = Buffer.alloc(length);
    const start = from < 0 ? Math.max(0, stat.size + from) : from;
    return bytes.subarray(0, readSync(fd, bytes, 0, length, start));
  } finally {
    closeSync(fd);
  }
}
