import { readSync, writeSync } from 'node:fs';

/** The lines of standard input as they come, those of each read together; the last may have no end. */
export function* stdinLines(): Generator<string[]> {
  const bytes = Buffer.allocUnsafe(64 * 1024);
  const unfinished: Buffer[] = [];
  for (let read = readSome(bytes); read > 0; read = readSome(bytes)) {
    const end = bytes.lastIndexOf(0x0a, read - 1);
    if (end !== -1) {
      const whole = Buffer.concat([...unfinished.splice(0), bytes.subarray(0, end)]);
      yield whole.toString('utf8').split('\n');
    }
    unfinished.push(Buffer.from(bytes.subarray(end + 1, read)));
  }
  yield [Buffer.concat(unfinished).toString('utf8')];
}

/** Writes all of a text, however slowly it is read; false where nobody reads any more. */
export function writeText(fd: 1 | 2, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) done += patiently(() => writeSync(fd, bytes, done));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EPIPE') return false;
    throw error;
  }
}

/** A text without what drives a terminal or reorders what it shows; newlines and tabs stay. */
export function printable(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu, '');
}

function readSome(into: Buffer): number {
  try {
    return patiently(() => readSync(0, into, 0, into.length, null));
  } catch (error) {
    // Windows reports the end of a pipe as an error.
    if (codeOf(error) === 'EOF') return 0;
    throw error;
  }
}

/** A pipe that does not block says so when it is empty or full: then try again. */
function patiently(operation: () => number): number {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
