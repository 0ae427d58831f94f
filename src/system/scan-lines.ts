import * as fs from 'node:fs';

/** A line that is longer is shown by its two ends first. */
const longLine = 128 * 1024;
const endBytes = 2048;
const chunkBytes = 1024 * 1024;

/** Gets lines as Latin-1, which is much faster to search than bytes are; `utf8Of` gives the text of one that matters. */
export type LineVisitor = {
  /** Whether a long line is worth reading, by its beginning and its end. */
  readonly wants: (ends: string) => boolean;
  /** Gets a line without its newline. False stops the scan. */
  readonly visit: (line: string) => boolean;
};

export type FileScan = {
  readonly size: number;
  /** Where the last whole line ends: a later scan starts there. */
  readonly wholeEnd: number;
};

/** The text of a line that came as Latin-1. */
export function utf8Of(line: string): string {
  return Buffer.from(line, 'latin1').toString('utf8');
}

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
  let held: Held = { text: '', at: size };
  let lineEnd = size;
  const line = (start: number): boolean => {
    if (lineEnd === start) return true;
    if (lineEnd === size && !isWhole(fd, start, size)) {
      wholeEnd = start;
      return true;
    }
    return show(fd, held, start, lineEnd, visitor);
  };
  for (let end = size; end > from; ) {
    const start = Math.max(from, end - chunk.length);
    const bytes = chunk.subarray(0, readFully(fd, chunk.subarray(0, end - start), start));
    let newline = lastNewline(bytes, bytes.length);
    // A part without a line border belongs to a long line: perhaps nobody wants to see it.
    held =
      newline === -1 && start > from
        ? { text: '', at: start }
        : { text: bytes.toString('latin1'), at: start };
    for (; newline !== -1; newline = lastNewline(bytes, newline)) {
      if (!line(start + newline + 1)) return { size, wholeEnd };
      lineEnd = start + newline;
    }
    end = start;
  }
  line(from);
  return { size, wholeEnd };
}

/** The part of the file that was read last. */
type Held = { readonly text: string; readonly at: number };

function lastNewline(bytes: Buffer, before: number): number {
  return before === 0 ? -1 : bytes.lastIndexOf(0x0a, before - 1);
}

/** Takes the line from what was read if it is there, else reads it: all of it, or first only its ends. */
function show(fd: number, held: Held, start: number, end: number, { wants, visit }: LineVisitor): boolean {
  const inside = end <= held.at + held.text.length;
  const part = (from: number, to: number): string => {
    if (inside) return held.text.slice(from - held.at, to - held.at);
    const bytes = Buffer.allocUnsafe(to - from);
    return bytes.toString('latin1', 0, readFully(fd, bytes, from));
  };
  if (end - start > longLine && !wants(part(start, start + endBytes) + part(end - endBytes, end)))
    return true;
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
