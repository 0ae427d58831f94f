import { fstatSync, readFileSync, readSync, writeSync } from 'node:fs';
import { errorCode } from '../files/file-error.ts';

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

/**
 * Writes all of it, however slowly it is read; false where nobody reads any more (`ralph show | head`). The first touch of
 * `process.stdout` loads the network code of Node, which takes longer than most of what prints something and ends.
 */
export function writeStdio(fd: 1 | 2, data: string | Uint8Array): boolean {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  try {
    for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(fd, bytes, done));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EPIPE') return false;
    throw error;
  }
}

/** Prints a file; false where there is none. */
export function printFile(path: string): boolean {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return false;
  }
  writeStdio(1, bytes);
  return true;
}

/** Whether it is a terminal. Only of a device Node's own code for terminals is asked, which takes as long as the streams. */
export function isTerminal(fd: 1 | 2): boolean {
  return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd);
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
