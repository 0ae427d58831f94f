import { readSync, writeSync } from 'node:fs';
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

/** Writes all of the text. Much cheaper than the first touch of `process.stdout`, which loads the network code. */
export function writeStdio(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(fd, bytes, done));
}

function readSome(chunk: Buffer): number {
  try {
    return patiently(() => readSync(0, chunk));
  } catch (error) {
    // Windows reports the end of a pipe as an error.
    if (errorCode(error) === 'EOF') return 0;
    throw error;
  }
}

/** A pipe that does not block says so when it is empty or full: then try again. */
function patiently(operation: () => number): number {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}
