import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** A line that is longer is shown by its two ends first. */
const longLine = 128 * 1024;
const endBytes = 2048;
/** A part this small stays in the cache of the processor: larger ones take twice as long to read and search. */
const chunkBytes = 64 * 1024;
/** Inside a long line there is nothing to do but to read on: a quarter faster with fewer calls. */
const longChunkBytes = 512 * 1024;
/** What to look for in the lines before the last visited one, and how many bytes back: a third of a millisecond per megabyte. */
export type Needle = {
  readonly text: string;
  readonly within: number;
  /** Gets the lines that hold it, as `visit` does. */
  readonly found: (line: string) => boolean;
};

/** Gets lines as Latin-1, which is much faster to search than bytes are; `utf8Of` gives the text of one that matters. */
export type LineVisitor = {
  /** Whether a long line is worth reading, by its beginning and its end. */
  readonly wants: (ends: string) => boolean;
  /** Gets a line without its newline. False stops the scan. */
  readonly visit: (line: string) => boolean;
  /** What to look for in the lines before that, one after the other. */
  readonly needles?: () => readonly Needle[];
};

export type FileScan = {
  readonly size: number;
  /** Where the last whole line ends: a later scan starts there. */
  readonly wholeEnd: number;
};

/** The text of a line that came as Latin-1. */
export function utf8Of(line: string): string {
  return /[^\0-\x7f]/.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line;
}

/** The size of a regular file, or null. */
export function fileSize(path: string): number | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : null;
}

/**
 * Visits the lines between `from` and the end of the file from the last to the first, with flat memory whatever their
 * length. A last line without a newline counts if it is whole JSON. Null where there is no such part.
 */
export function scanLinesBack(path: string, from: number, visitor: LineVisitor): FileScan | null {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size < from) return null;
    return scan(fd, from, stat.size, visitor);
  } finally {
    closeSync(fd);
  }
}

function scan(fd: number, from: number, size: number, visitor: LineVisitor): FileScan {
  let chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(1, size - from)));
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
    const length = readFully(fd, chunk, end - start, start);
    let newline = lastNewline(chunk, length);
    // A part without a line border belongs to a long line: perhaps nobody wants to see it.
    const text = newline === -1 && start > from ? '' : chunk.toString('latin1', 0, length);
    held = { text, at: start };
    for (; newline !== -1; newline = newline === 0 ? -1 : text.lastIndexOf('\n', newline - 1)) {
      if (!line(start + newline + 1)) {
        for (const needle of visitor.needles?.() ?? [])
          search(fd, from, start + newline + 1, chunk, needle, visitor);
        return { size, wholeEnd };
      }
      lineEnd = start + newline;
    }
    end = start;
    if (text === '' && chunk.length === chunkBytes) chunk = Buffer.allocUnsafe(longChunkBytes);
  }
  line(from);
  return { size, wholeEnd };
}

/** Shows the lines before `end` that hold the needle, from the last to the first, without looking at the others. */
function search(
  fd: number,
  from: number,
  end: number,
  chunk: Buffer,
  { text, within, found }: Needle,
  { wants }: LineVisitor,
): void {
  const wanted = Buffer.from(text);
  const least = Math.max(from, end - within);
  // A needle over the border of two parts is whole in one of them.
  for (let to = end; to > least; ) {
    const start = Math.max(least, to - chunk.length);
    const bytes = chunk.subarray(0, readFully(fd, chunk, to - start, start));
    let at = bytes.lastIndexOf(wanted);
    while (at !== -1) {
      const lineStart = borderBefore(fd, from, start + at);
      const lineEnd = borderAfter(fd, start + at, end);
      if (!show(fd, { text: '', at: start }, lineStart, lineEnd, { wants, visit: found })) return;
      if (lineStart <= start) {
        to = lineStart;
        break;
      }
      // A negative place would count from the end.
      const last = lineStart - start - wanted.length;
      at = last < 0 ? -1 : bytes.lastIndexOf(wanted, last);
    }
    if (at === -1) to = start === least ? least : start + wanted.length - 1;
  }
}

/** Where the line starts that holds this place. */
function borderBefore(fd: number, from: number, place: number): number {
  const bytes = Buffer.allocUnsafe(Math.min(endBytes * 32, place - from));
  for (let end = place; end > from; ) {
    const start = Math.max(from, end - bytes.length);
    const newline = lastNewline(bytes, readFully(fd, bytes, end - start, start));
    if (newline !== -1) return start + newline + 1;
    end = start;
  }
  return from;
}

/** Where it ends. */
function borderAfter(fd: number, place: number, to: number): number {
  const bytes = Buffer.allocUnsafe(Math.min(endBytes * 32, to - place));
  for (let start = place; start < to; start += bytes.length) {
    const part = bytes.subarray(0, readFully(fd, bytes, Math.min(bytes.length, to - start), start));
    const newline = part.indexOf(0x0a);
    if (newline !== -1) return start + newline;
  }
  return to;
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
    return bytes.toString('latin1', 0, readFully(fd, bytes, bytes.length, from));
  };
  if (end - start > longLine && !wants(part(start, start + endBytes) + part(end - endBytes, end)))
    return true;
  return visit(part(start, end));
}

/** Whether a last line without a newline is all there; one that is too long to try only has to end like an object. */
function isWhole(fd: number, start: number, end: number): boolean {
  const from = end - start > longLine ? end - 1 : start;
  const bytes = Buffer.allocUnsafe(end - from);
  const text = bytes.toString('utf8', 0, readFully(fd, bytes, bytes.length, from));
  if (from !== start) return text === '}';
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readFully(fd: number, into: Buffer, length: number, from: number): number {
  let done = 0;
  while (done < length) {
    const count = readSync(fd, into, done, length - done, from + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}
