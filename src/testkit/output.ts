import { writeSync } from 'node:fs';
import type { Flood } from './script.ts';

const chunkBytes = 64 * 1024;

/** Placeholder for the filler in a line of a flood. */
export const floodMark = '--flood--';

/** Writes everything before it returns, so that a slow reader slows the agent and memory stays small. */
export function writeAll(fd: 1 | 2, data: string | Buffer): void {
  let rest = typeof data === 'string' ? Buffer.from(data) : data;
  while (rest.length > 0) rest = rest.subarray(retryWhenBusy(() => writeSync(fd, rest)));
}

/** Writes at least `bytes` of filler in lines of about `lineBytes`, in constant memory. */
export function writeFlood({ bytes, lineBytes }: Flood, nextLine: () => string): void {
  const filler = Buffer.alloc(chunkBytes, 'x');
  let pending: Buffer[] = [];
  let size = 0;
  const flush = () => {
    writeAll(1, Buffer.concat(pending));
    pending = [];
    size = 0;
  };
  const push = (data: Buffer) => {
    pending.push(data);
    size += data.length;
    if (size >= chunkBytes) flush();
  };
  for (let total = 0; total < bytes; total += lineBytes) {
    const [head = '', ...parts] = nextLine().split(floodMark);
    const share = Math.ceil(lineBytes / parts.length);
    push(Buffer.from(head));
    for (const part of parts) {
      for (let left = share; left > 0; left -= chunkBytes)
        push(filler.subarray(0, Math.min(left, chunkBytes)));
      push(Buffer.from(part));
    }
  }
  flush();
}

/** Retries on EAGAIN: the other end of the pipe may have made it non-blocking. */
export function retryWhenBusy(call: () => number): number {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
