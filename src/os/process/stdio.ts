import { fstatSync, readFileSync, readSync, writeSync } from 'node:fs';
import { attempt } from '../attempt.ts';
import { errorCode } from '../files/file-error.ts';

export function readStdin(): string {
  let bytes = Buffer.allocUnsafe(64 * 1024);
  for (let length = 0; ; ) {
    const count = readSome(bytes, length);
    if (count === 0) return bytes.toString('utf8', 0, length);
    length += count;
    if (length === bytes.length) bytes = Buffer.concat([bytes], 2 * length);
  }
}

/**
 * Writes all of the data, however slowly it is read; false if nobody reads it any more (`ralph show | head`). Avoids
 * `process.stdout`, whose first use loads the network code of Node: that takes longer than most short commands.
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

/** Prints a file; false if there is none. */
export function printFile(path: string): boolean {
  const bytes = attempt(() => readFileSync(path), null);
  if (bytes !== null) writeStdio(1, bytes);
  return bytes !== null;
}

/** True for a terminal. Loads node:tty, which takes long, only for a device. */
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

/** Tries again while a non-blocking pipe is empty or full. */
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
