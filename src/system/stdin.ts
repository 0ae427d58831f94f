import { readSync } from 'node:fs';
import { errorCode } from './files.ts';

/** All of standard input. */
export function readStdin(): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const length = readSome(chunk);
    if (length === 0) return Buffer.concat(chunks).toString('utf8');
    chunks.push(chunk.subarray(0, length));
  }
}

function readSome(chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(0, chunk);
    } catch (error) {
      // Windows reports the end of a pipe as an error; a pipe that does not block has nothing yet.
      if (errorCode(error) === 'EOF') return 0;
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}
