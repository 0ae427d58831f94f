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
 * length. A last line without a newline counts if it is whole JSON. Null where there is no such part.
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
  let wholeEnd = size;
  let held = chunk.subarray(0, 0);
  let heldAt = size;
  let lineEnd = size;
  const line = (start: number): boolean => {
    if (lineEnd === start) return true;
    if (lineEnd === size && !isWhole(fd, start, size)) {
      wholeEnd = start;
      return true;
    }
    return show(fd, held, heldAt, start, lineEnd, visitor);
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

/** Whether a last line without a newline is all there; one that is too long to try only has to end like an object. */
function isWhole(fd: number, start: number, end: number): boolean {
  const from = end - start > longLine ? end - 1 : start;
  const bytes = Buffer.allocUnsafe(end - from);
  const text = bytes.subarray(0, readFully(fd, bytes, from)).toString('utf8');
  if (from !== start) return text === '}';
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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
