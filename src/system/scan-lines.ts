import * as fs from 'node:fs';

/** A line that is longer is shown by its two ends first. */
const longLine = 128 * 1024;
const endBytes = 2048;
const chunkBytes = 1024 * 1024;

export type LineVisitor = {
  /** Whether a long line is worth reading, by its beginning and its end. */
  readonly wants: (ends: Buffer) => boolean;
  /** Gets a line without its newline; the bytes are valid during the call only. False stops the scan. */
  readonly visit: (line: Buffer) => boolean;
};

export type FileScan = {
  readonly size: number;
  /** Where the last whole line ends: a later scan starts there. */
  readonly wholeEnd: number;
};

/** The size of a regular file, or null. */
export function fileSize(path: string): number | null {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : null;
}

/**
 * Visits the lines between `from` and the end of the file from the last to the first, with flat memory whatever their
 * length. A last line without a newline counts as whole if it ends like a JSON object. Null where there is no such part.
 */
export function scanLinesBack(path: string, from: number, visitor: LineVisitor): FileScan | null {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const fd = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile() || stat.size < from) return null;
    return scan(fd, from, stat.size, visitor);
  } finally {
    fs.closeSync(fd);
  }
}

function scan(fd: number, from: number, size: number, visitor: LineVisitor): FileScan {
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, size - from)));
  const torn = size > from && !endsWhole(fd, size);
  let wholeEnd = size;
  let held = chunk.subarray(0, 0);
  let heldAt = size;
  let lineEnd = size;
  const line = (start: number): boolean => {
    if (lineEnd === start) return true;
    if (!torn || lineEnd !== size) return show(fd, held, heldAt, start, lineEnd, visitor);
    wholeEnd = start;
    return true;
  };
  while (heldAt > from) {
    const start = Math.max(from, heldAt - chunk.length);
    held = chunk.subarray(0, readFully(fd, chunk.subarray(0, heldAt - start), start));
    heldAt = start;
    for (let newline = lastNewline(held, held.length); newline !== -1; newline = lastNewline(held, newline)) {
      if (!line(start + newline + 1)) return { size, wholeEnd };
      lineEnd = start + newline;
    }
  }
  line(from);
  return { size, wholeEnd };
}

function lastNewline(bytes: Buffer, before: number): number {
  return before === 0 ? -1 : bytes.lastIndexOf(0x0a, before - 1);
}

/** Takes the line from the chunk if it is there, else reads it: all of it, or first only its ends. */
function show(
  fd: number,
  held: Buffer,
  heldAt: number,
  start: number,
  end: number,
  { wants, visit }: LineVisitor,
): boolean {
  const inside = end <= heldAt + held.length;
  const part = (from: number, to: number): Buffer => {
    if (inside) return held.subarray(from - heldAt, to - heldAt);
    const bytes = Buffer.allocUnsafe(to - from);
    return bytes.subarray(0, readFully(fd, bytes, from));
  };
  const length = end - start;
  if (length > longLine) {
    const ends = Buffer.concat([part(start, start + endBytes), part(end - endBytes, end)]);
    if (!wants(ends)) return true;
  }
  return visit(part(start, end));
}

function endsWhole(fd: number, size: number): boolean {
  const last = Buffer.alloc(1);
  readFully(fd, last, size - 1);
  return last[0] === 0x0a || last[0] === 0x7d;
}

function readFully(fd: number, into: Buffer, from: number): number {
  let done = 0;
  while (done < into.length) {
    const count = fs.readSync(fd, into, done, into.length - done, from + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}
