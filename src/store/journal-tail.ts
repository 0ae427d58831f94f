import * as fs from 'node:fs';
import { createLineSplitter, type LineSplitter } from '../system/lines.ts';
import type { JournalEvent } from './events.ts';
import { parseEvent } from './journal.ts';

const chunkBytes = 1024 * 1024;
const maxLineBytes = 8 * 1024 * 1024;

export type TailRead = {
  /** The events since the last look. */
  readonly events: readonly JournalEvent[];
  /** The file is another than at the last look, or shorter: these events are all there are. */
  readonly restarted: boolean;
};

/** Follows a journal that somebody else writes. */
export type JournalTail = {
  /** Reads what is new, and only that. A line that is not whole yet waits for the next look. */
  read(): TailRead;
  /** Whole lines that were no events. */
  readonly damaged: number;
};

export function tailJournal(path: string): JournalTail {
  let seen = { inode: -1, offset: 0 };
  let damaged = 0;
  let events: JournalEvent[] = [];
  let lines = newSplitter();

  function newSplitter(): LineSplitter {
    return createLineSplitter(take, { maxLineBytes, onOversize: () => damaged++ });
  }

  function take(line: Buffer): void {
    if (line.length === 0) return;
    const event = parseEvent(line.toString('utf8'));
    if (event) events.push(event);
    else damaged++;
  }

  return {
    get damaged() {
      return damaged;
    },
    read() {
      events = [];
      const fd = openOrNull(path);
      if (fd === null) return { events, restarted: false };
      try {
        const { ino, size } = fs.fstatSync(fd);
        const restarted = seen.inode !== -1 && (ino !== seen.inode || size < seen.offset);
        if (restarted) {
          damaged = 0;
          lines = newSplitter();
        }
        const from = restarted ? 0 : seen.offset;
        seen = { inode: ino, offset: from + readFrom(fd, from, size, lines) };
        return { events, restarted };
      } finally {
        fs.closeSync(fd);
      }
    },
  };
}

/** Gives the bytes between two places to the splitter; returns how many there were. */
function readFrom(fd: number, from: number, to: number, lines: LineSplitter): number {
  let at = from;
  while (at < to) {
    // The splitter keeps views of a chunk, so that every chunk needs memory of its own.
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
    const length = fs.readSync(fd, chunk, 0, chunk.length, at);
    if (length === 0) break;
    lines.push(chunk.subarray(0, length));
    at += length;
  }
  return at - from;
}

function openOrNull(path: string): number | null {
  try {
    const fd = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
    if (fs.fstatSync(fd).isFile()) return fd;
    fs.closeSync(fd);
    return null;
  } catch {
    return null;
  }
}
