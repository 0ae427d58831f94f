import * as fs from 'node:fs';
import { isoTime } from '../core/iso-time.ts';
import { type EventBody, type JournalEvent, journalVersion } from './events.ts';
import { readJournal } from './journal.ts';

const tailBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Adds events to a journal in one write, for those who come by only once: a hook must not pay for reading all of it.
 * A torn last line is cut off first. After the end of a run, the record survives a power cut.
 */
export function appendEvents(path: string, bodies: readonly EventBody[], now: () => number): void {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0 } = fs.constants;
  const fd = fs.openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
  try {
    let seq = cutToWholeLines(fd, path);
    const at = isoTime(now());
    const lines = bodies.map((body) => {
      const event: JournalEvent = { v: journalVersion, seq: ++seq, at, ...body };
      return `${JSON.stringify(event)}\n`;
    });
    fs.writeFileSync(fd, lines.join(''));
    if (bodies.some(({ type }) => type === 'run.ended')) fs.fdatasyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** The number of the last event. */
function cutToWholeLines(fd: number, path: string): number {
  const { size } = fs.fstatSync(fd);
  const tail = Buffer.alloc(Math.min(size, tailBytes));
  fs.readSync(fd, tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(newline);
  if (end === -1 || end === 0) return cutAfter(fd, readJournal(path));
  if (end + 1 < tail.length) fs.ftruncateSync(fd, size - tail.length + end + 1);
  const start = tail.lastIndexOf(newline, end - 1);
  if (start === -1 && tail.length < size) return readJournal(path).events.at(-1)?.seq ?? 0;
  return seqOf(tail.subarray(start + 1, end)) ?? readJournal(path).events.at(-1)?.seq ?? 0;
}

function cutAfter(fd: number, { events, wholeBytes }: ReturnType<typeof readJournal>): number {
  fs.ftruncateSync(fd, wholeBytes);
  return events.at(-1)?.seq ?? 0;
}

function seqOf(line: Buffer): number | null {
  try {
    const { seq } = JSON.parse(line.toString('utf8'));
    return typeof seq === 'number' ? seq : null;
  } catch {
    return null;
  }
}
