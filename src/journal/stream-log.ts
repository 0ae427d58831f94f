import { closeSync, constants, existsSync, ftruncateSync, renameSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { writing } from '../os/files/file-error.ts';
import { ensureDir } from '../os/files/files.ts';
import { readChunks } from '../os/files/open-file.ts';
import { openRegular } from './journal-append.ts';
import { writeAll } from './spool.ts';

export type StreamLog = ReturnType<typeof openStreamLog>;

const mostBytes = 200 * 1024 * 1024;

/** Opens a log of what a process prints. Of one above `maxBytes` the middle is left out, and a line says so. */
export function openStreamLog(path: string, maxBytes = mostBytes) {
  const endBytes = Math.floor(maxBytes / 4);
  let size = 0;
  let leftOut = 0;
  let noteBytes = 0;
  const fd = writing(path, () => {
    ensureDir(dirname(path));
    return openRegular(path, constants.O_TRUNC);
  });

  /** Moves the last quarter behind the first, in place: the file never grows beyond its limit. */
  function cutMiddle(): void {
    const from = lineStart(fd, size - endBytes);
    leftOut += from - endBytes - noteBytes;
    const note = Buffer.from(`\n... [${leftOut} bytes left out here]\n`);
    noteBytes = note.length;
    let end = endBytes + writeAll(fd, note, endBytes);
    for (const chunk of readChunks(fd, from, size)) end += writeAll(fd, chunk, end);
    ftruncateSync(fd, end);
    size = end;
  }

  return {
    write(chunk: Uint8Array | string): void {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      writing(path, () => {
        size += writeAll(fd, bytes, size);
        if (size > maxBytes) cutMiddle();
      });
    },
    close: (): void => closeSync(fd),
  };
}

/** Returns the first place after `from` at which a line begins; the end of the file if there is none. */
function lineStart(fd: number, from: number): number {
  let at = from;
  for (const chunk of readChunks(fd, from)) {
    const newline = chunk.indexOf(0x0a);
    if (newline !== -1) return at + newline + 1;
    at += chunk.length;
  }
  return at;
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

export function earlierLog(path: string, n: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.try-${n}${ext}`);
}
