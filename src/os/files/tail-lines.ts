import * as fs from 'node:fs';
import { createLineSplitter, type LineSplitter } from '../process/lines.ts';

const chunkBytes = 1024 * 1024;

export type LinesRead = {
  /** The whole lines since the last look, without their ends. */
  readonly lines: readonly Buffer[];
  /** The file is another than at the last look, or shorter: these lines are all there are. */
  readonly restarted: boolean;
};

export type TailOptions = {
  readonly maxLineBytes?: number;
  readonly onOversize?: () => void;
  /** At the first look, begin so many bytes before the end; the line that is cut there is left out. */
  readonly lastBytes?: number;
};

/** Follows a file that somebody else writes. Reads what is new, and only that; a missing file has no lines. */
export function tailLines(path: string, options: TailOptions = {}): { read(): LinesRead } {
  const { lastBytes = Number.POSITIVE_INFINITY, ...splitting } = options;
  let seen = { inode: -1, offset: 0 };
  let lines: Buffer[] = [];
  let splitter = newSplitter();

  function newSplitter(): LineSplitter {
    return createLineSplitter((line) => void lines.push(line), splitting);
  }

  return {
    read() {
      lines = [];
      const fd = openOrNull(path);
      if (fd === null) return { lines, restarted: false };
      try {
        const { ino, size } = fs.fstatSync(fd);
        const isFirst = seen.inode === -1;
        const restarted = !isFirst && (ino !== seen.inode || size < seen.offset);
        if (restarted) splitter = newSplitter();
        const from = isFirst || restarted ? Math.max(0, size - lastBytes) : seen.offset;
        seen = { inode: ino, offset: from + readFrom(fd, from, size, splitter) };
        if ((isFirst || restarted) && from > 0) lines.shift();
        return { lines, restarted };
      } finally {
        fs.closeSync(fd);
      }
    },
  };
}

/** Gives the bytes between two places to the splitter; returns how many there were. */
function readFrom(fd: number, from: number, to: number, splitter: LineSplitter): number {
  let at = from;
  while (at < to) {
    // The splitter keeps views of a chunk, so that every chunk needs memory of its own.
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
    const length = fs.readSync(fd, chunk, 0, chunk.length, at);
    if (length === 0) break;
    splitter.push(chunk.subarray(0, length));
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
