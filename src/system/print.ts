import { readFileSync, writeSync } from 'node:fs';

/** Prints a text as a whole, without the streams of Node: to load them takes longer than all of this. */
export function printText(text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // Nobody reads any more (`ralph --help | head`).
      if (code === 'EPIPE') return;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

/** Prints a file; false where there is none. */
export function printFile(path: string): boolean {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return false;
  }
  printText(text);
  return true;
}
