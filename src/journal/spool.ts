import * as fs from 'node:fs';
import { join } from 'node:path';
import { readChunks } from '../os/files/open-file.ts';
import { makeTempDir, removeTempDir } from '../os/files/temp.ts';

export type Spool = ReturnType<typeof createSpool>;

/** Keeps bytes where no path leads: in memory, and above `maxBytes` in a file without a name. */
export function createSpool(maxBytes = 4 * 1024 * 1024) {
  let memory = Buffer.alloc(0);
  let length = 0;
  let fd: number | null = null;
  let spilled = 0;
  return {
    size: () => spilled + length,
    add(bytes: Uint8Array): void {
      const needed = length + bytes.length;
      if (needed > maxBytes) {
        fd ??= openNameless();
        spilled += writeAll(fd, memory.subarray(0, length), spilled);
        length = 0;
        spilled += writeAll(fd, bytes, spilled);
        return;
      }
      if (needed > memory.length) memory = Buffer.concat([memory], Math.max(needed, memory.length * 2));
      memory.set(bytes, length);
      length = needed;
    },
    *chunks(): Generator<Uint8Array> {
      if (fd !== null) yield* readChunks(fd, 0, spilled);
      yield memory.subarray(0, length);
    },
    close(): void {
      if (fd !== null) fs.closeSync(fd);
      fd = null;
    },
  };
}

/** Writes all bytes: one write may take only a part. Without `position` they go to the current one. */
export function writeAll(fd: number, bytes: Uint8Array, position: number | null = null): number {
  for (let done = 0; done < bytes.length; ) {
    done += fs.writeSync(fd, bytes, done, bytes.length - done, position === null ? null : position + done);
  }
  return bytes.length;
}

function openNameless(): number {
  const folder = makeTempDir('ralph-');
  try {
    return fs.openSync(join(folder, 'spool'), 'wx+', 0o600);
  } finally {
    removeTempDir(folder);
  }
}
