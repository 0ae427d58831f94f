import * as fs from 'node:fs';
import { systemClock } from './clock.ts';

const lookMs = 200;
const chunkBytes = 64 * 1024;

/** Gives what is in a file, and with `follow` what is added to it, for ever; false where there is none. */
export async function tailFile(
  path: string,
  options: {
    readonly follow: boolean;
    readonly onData: (bytes: Buffer) => void;
    readonly signal?: AbortSignal;
  },
): Promise<boolean> {
  if (!fs.existsSync(path)) return false;
  let at = 0;
  for (;;) {
    at = readFrom(path, at, options.onData);
    if (!options.follow || options.signal?.aborted) return true;
    await systemClock.sleep(lookMs, options.signal);
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
