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
import { attempt } from '../os/attempt.ts';
import { statRegular } from '../os/files/open-file.ts';
import type { EventBody, JournalEvent } from './events.ts';
import { journalVersion } from './journal-version.ts';

const tailBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Adds events to a journal in one write, for a hook that must not pay for reading all of it. Cuts off a torn last line
 * first. Flushes the end of a run to disk.
 */
export function appendEvents(path: string, bodies: readonly EventBody[], now: () => number): void {
  const fd = openRegular(path, constants.O_APPEND);
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

/** Opens a file for reading and writing, or makes it; never through a link, and never a pipe, which would wait for ever. */
export function openRegular(path: string, flags: number): number {
  const { O_CREAT, O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const fd = openSync(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | flags, 0o600);
  try {
    statRegular(fd, path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Cuts off a torn last line and returns the number of the last event. Reads all only if it has to. */
export function cutToWholeLines(fd: number, bytes = tailBytes): number {
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

/** Returns the number of the last line that has one, be it an event that we know or not. */
export function lastSeq(lines: readonly string[]): number | null {
  for (const line of lines.toReversed()) {
    const seq: unknown = attempt(() => JSON.parse(line).seq, null);
    if (typeof seq === 'number') return seq;
  }
  return null;
}
