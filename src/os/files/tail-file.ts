import * as fs from 'node:fs';
import { systemClock } from '../clock.ts';

const lookMs = 200;
const chunkBytes = 64 * 1024;
const newline = 0x0a;

/** Gives what is in a file, or its last `lines`, and with `follow` what is added to it, for ever; false where there is none. */
export async function tailFile(
  path: string,
  options: {
    readonly follow: boolean;
    readonly lines?: number;
    readonly onData: (bytes: Buffer) => void;
    readonly signal?: AbortSignal;
  },
): Promise<boolean> {
  if (!fs.existsSync(path)) return false;
  let at = options.lines === undefined ? 0 : startOfLines(path, options.lines);
  for (;;) {
    at = readFrom(path, at, options.onData);
    if (!options.follow || options.signal?.aborted) return true;
    await systemClock.sleep(lookMs, options.signal);
  }
}

/** Where the last `count` lines begin, read from the end. */
function startOfLines(path: string, count: number): number {
  if (count === 0) return fs.statSync(path).size;
  const fd = fs.openSync(path, 'r');
  try {
    const { size } = fs.fstatSync(fd);
    const chunk = Buffer.alloc(chunkBytes);
    let left = count;
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - chunkBytes);
      const length = fs.readSync(fd, chunk, 0, end - start, start);
      for (let index = length - 1; index >= 0; index--) {
        // The break at the very end closes the last line.
        if (chunk[index] !== newline || start + index === size - 1) continue;
        if (--left === 0) return start + index + 1;
      }
      end = start;
    }
    return 0;
  } finally {
    fs.closeSync(fd);
  }
}

/** Reads to the end; a file that became shorter is a new one. */
function readFrom(path: string, from: number, onData: (bytes: Buffer) => void): number {
  let fd: number;
  try {
    fd = fs.openSync(path, 'r');
  } catch {
    return 0;
  }
  try {
    let at = fs.fstatSync(fd).size < from ? 0 : from;
    for (;;) {
      const chunk = Buffer.alloc(chunkBytes);
      const length = fs.readSync(fd, chunk, 0, chunk.length, at);
      if (length === 0) return at;
      onData(chunk.subarray(0, length));
      at += length;
    }
  } finally {
    fs.closeSync(fd);
  }
}
