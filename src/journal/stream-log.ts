import { closeSync, constants, existsSync, openSync, renameSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { writeFailure } from '../os/files/file-error.ts';
import { ensureDir } from '../os/files/files.ts';
import { writeAll } from './spool.ts';

export type StreamLog = { write(chunk: Uint8Array | string): void; close(): void };

/** Opens a log of what a process prints. Above `maxBytes` it says so once and writes no more. */
export function openStreamLog(path: string, maxBytes = Number.POSITIVE_INFINITY): StreamLog {
  const { O_CREAT, O_TRUNC, O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let size = 0;
  const fd = guard(path, () => {
    ensureDir(dirname(path));
    // Without O_NONBLOCK, opening a named pipe would wait for a reader.
    return openSync(path, O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  });
  return {
    write(chunk) {
      if (size > maxBytes) return;
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.length;
      const text = size > maxBytes ? Buffer.concat([bytes, Buffer.from('\n... [log cut here]\n')]) : bytes;
      guard(path, () => writeAll(fd, text));
    },
    close: () => closeSync(fd),
  };
}

/** Renames the log of an iteration that is run again, to `001.try-1.ndjson`. */
export function keepEarlierLog(path: string): void {
  if (!existsSync(path)) return;
  for (let n = 1; ; n++) {
    const earlier = earlierLog(path, n);
    if (existsSync(earlier)) continue;
    renameSync(path, earlier);
    return;
  }
}

/** Returns the path of the log of the `n`th try. */
export function earlierLog(path: string, n: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.try-${n}${ext}`);
}

function guard<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw writeFailure(path, error);
  }
}
