import { readSync, writeSync } from 'node:fs';
import { errorCode } from './files.ts';

/** All of standard input. */
export function readStdin(): string {
  let bytes = Buffer.allocUnsafe(64 * 1024);
  for (let length = 0; ; ) {
    const read = readSome(bytes, length);
    if (read === 0) return bytes.toString('utf8', 0, length);
    length += read;
    if (length === bytes.length) bytes = Buffer.concat([bytes], 2 * length);
  }
}

/** Writes all of the text. Much cheaper than the first touch of `process.stdout`, which loads the network code. */
export function writeStdio(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(fd, bytes, done));
}

function readSome(into: Buffer, at: number): number {
  try {
    return patiently(() => readSync(0, into, at, into.length - at, null));
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
