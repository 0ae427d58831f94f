import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import type { EventBody, JournalEvent } from './events.ts';
import { journalVersion } from './journal-version.ts';

const tailBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Adds events to a journal in one write, for those who come by only once: a hook must not pay for reading all of it.
 * A torn last line is cut off first. After the end of a run, the record survives a power cut.
 */
export function appendEvents(path: string, bodies: readonly EventBody[], now: () => number): void {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0 } = constants;
  const fd = openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
  try {
    let seq = cutToWholeLines(fd);
    const at = new Date(now()).toISOString();
    const lines = bodies.map((body) => {
      const event: JournalEvent = { v: journalVersion, seq: ++seq, at, ...body };
      return `${JSON.stringify(event)}\n`;
    });
    writeFileSync(fd, lines.join(''));
    if (bodies.some(({ type }) => type === 'run.ended')) fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Cuts a torn last line off and returns the number of the last event. Reads more where the end of the file has none. */
function cutToWholeLines(fd: number, bytes = tailBytes): number {
  const { size } = fstatSync(fd);
  const tail = Buffer.alloc(Math.min(size, bytes));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(newline) + 1;
  const lines = tail.subarray(0, end).toString('utf8').split('\n');
  const isWhole = tail.length === size;
  // The first line has lost its beginning.
  const seq = lastSeq(isWhole ? lines : lines.slice(1));
  if (seq === null && !isWhole) return cutToWholeLines(fd, size);
  if (end < tail.length) ftruncateSync(fd, size - tail.length + end);
  return seq ?? 0;
}

/** The number of the last line that has one; it need not be an event that we know. */
export function lastSeq(lines: readonly string[]): number | null {
  for (const line of lines.toReversed()) {
    const seq = seqOf(line);
    if (seq !== null) return seq;
  }
  return null;
}

function seqOf(line: string): number | null {
  try {
    const { seq } = JSON.parse(line);
    return typeof seq === 'number' ? seq : null;
  } catch {
    return null;
  }
}
