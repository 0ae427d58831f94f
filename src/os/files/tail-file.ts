import { existsSync, readSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { readChunks, tryFile, useFile } from './open-file.ts';

const lookMs = 200;
const chunkBytes = 64 * 1024;
const newline = 0x0a;

/** Passes the bytes of a file, or of its last `lines`, to `onData`; `follow` never ends. False if there is no file. */
export async function tailFile(
  path: string,
  options: {
    readonly follow: boolean;
    readonly lines?: number;
    readonly onData: (bytes: Buffer) => void;
    readonly signal?: AbortSignal;
  },
): Promise<boolean> {
  if (!existsSync(path)) return false;
  let at = options.lines === undefined ? 0 : startOfLines(path, options.lines);
  for (;;) {
    at = readFrom(path, at, options.onData);
    if (!options.follow || options.signal?.aborted) return true;
    await systemClock.sleep(lookMs, options.signal);
  }
}

/** Returns where the last `count` lines begin; reads from the end. */
function startOfLines(path: string, count: number): number {
  const start = useFile(path, (fd, { size }) => {
    if (count === 0) return size;
    const chunk = Buffer.alloc(chunkBytes);
    let missing = count;
    // The line break at the very end closes the last line.
    for (let end = size - 1; end > 0; ) {
      const from = Math.max(0, end - chunkBytes);
      const bytes = chunk.subarray(0, readSync(fd, chunk, 0, end - from, from));
      for (
        let at = bytes.lastIndexOf(newline);
        at !== -1;
        at = at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1)
      ) {
        if (--missing === 0) return from + at + 1;
      }
      end = from;
    }
    return 0;
  });
  return start ?? 0;
}

/** Reads to the end of the file and returns where that is. A file that became shorter is a new one. */
function readFrom(path: string, from: number, onData: (bytes: Buffer) => void): number {
  const end = tryFile(path, (fd, { size }) => {
    let at = size < from ? 0 : from;
    for (const chunk of readChunks(fd, at)) {
      onData(chunk);
      at += chunk.length;
    }
    return at;
  });
  return end ?? 0;
}
