import { createLineSplitter, type LineSplitter } from '../process/lines.ts';
import { readChunks, tryFile } from './open-file.ts';

export type NewLines = {
  /** Whole lines since the last look, without their ends. */
  readonly lines: readonly Buffer[];
  /** The file was replaced or cut since the last look: these lines are all there are. */
  readonly restarted: boolean;
};

export type TailOptions = {
  readonly maxLineBytes?: number;
  readonly onOversize?: () => void;
  /** The first look begins so many bytes before the end and leaves out the line that is cut there. */
  readonly lastBytes?: number;
};

/** Follows a file that somebody else writes; each `read` returns only what is new. A missing file has no lines. */
export function tailLines(path: string, options: TailOptions = {}): { read(): NewLines } {
  const { lastBytes = Number.POSITIVE_INFINITY, ...splitting } = options;
  let inode = -1;
  let offset = 0;
  let lines: Buffer[] = [];
  let splitter = newSplitter();

  function newSplitter(): LineSplitter {
    return createLineSplitter((line) => void lines.push(line), splitting);
  }

  return {
    read() {
      lines = [];
      const restarted = tryFile(path, (fd, { ino, size }) => {
        const isFirst = inode === -1;
        const isOther = !isFirst && (ino !== inode || size < offset);
        if (isOther) splitter = newSplitter();
        inode = ino;
        const from = isFirst || isOther ? Math.max(0, size - lastBytes) : offset;
        offset = from;
        for (const chunk of readChunks(fd, from, size)) {
          splitter.push(chunk);
          offset += chunk.length;
        }
        if ((isFirst || isOther) && from > 0) lines.shift();
        return isOther;
      });
      return { lines, restarted: restarted ?? false };
    },
  };
}
