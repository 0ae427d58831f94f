import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { attempt } from '../attempt.ts';

/** A longer line is shown by its two ends first. */
const longLine = 128 * 1024;
const endBytes = 2048;
/** A chunk this small stays in the cache of the processor: larger ones take twice as long to read and search. */
const chunkBytes = 64 * 1024;
/** Inside a long line, fewer and larger reads are a quarter faster. */
const longChunkBytes = 512 * 1024;

/** Gets lines as Latin-1, which is much faster to search than bytes are; `utf8Of` gives the text of one that matters. */
export type LineVisitor = {
  /** Says by the beginning and the end of a long line whether to read it. */
  readonly wants: (ends: string) => boolean;
  /** Gets a line without its newline. False stops the scan. */
  readonly visit: (line: string) => boolean;
};

export type FileScan = {
  readonly size: number;
  /** Where the last whole line ends: a later scan starts there. */
  readonly wholeEnd: number;
};

type Range = { readonly start: number; readonly end: number };

/** Returns the text of a line that came as Latin-1. */
export function utf8Of(line: string): string {
  return /[^\0-\x7f]/.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line;
}

export function fileSize(path: string): number | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.size : null;
}

/**
 * Visits the lines between `from` and the end of the file from the last to the first, with flat memory whatever their
 * length. A last line without a newline counts if it is whole JSON. Null if there is no such part.
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
  let part: FilePart = { text: '', at: size };
  let lineEnd = size;
  const line = (start: number): boolean => {
    if (lineEnd === start) return true;
    if (lineEnd === size && !isWhole(fd, start, size)) {
      wholeEnd = start;
      return true;
    }
    return show(fd, part, { start, end: lineEnd }, visitor);
  };
  for (let end = size; end > from; ) {
    const start = Math.max(from, end - chunk.length);
    const length = readFully(fd, chunk, end - start, start);
    // A part without a newline belongs to a long line, which may not be wanted.
    const isPassed = start > from && !chunk.subarray(0, length).includes(0x0a);
    const text = isPassed ? '' : chunk.toString('latin1', 0, length);
    part = { text, at: start };
    for (const newline of newlinesIn(text).reverse()) {
      const lineStart = start + newline + 1;
      if (!line(lineStart)) return { size, wholeEnd };
      lineEnd = start + newline;
    }
    end = start;
    if (text === '' && chunk.length === chunkBytes) chunk = Buffer.allocUnsafe(longChunkBytes);
  }
  line(from);
  return { size, wholeEnd };
}

type FilePart = { readonly text: string; readonly at: number };

/** Returns the places of all newlines. Searching forward is several times faster than backward. */
function newlinesIn(text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) places.push(at);
  return places;
}

/** Visits a line of the part that was read, or else reads it: all of it, or first only its ends. */
function show(fd: number, part: FilePart, { start, end }: Range, { wants, visit }: LineVisitor): boolean {
  const isInside = end <= part.at + part.text.length;
  const textOf = (from: number, to: number): string => {
    if (isInside) return part.text.slice(from - part.at, to - part.at);
    const bytes = Buffer.allocUnsafe(to - from);
    return bytes.toString('latin1', 0, readFully(fd, bytes, bytes.length, from));
  };
  if (end - start > longLine && !wants(textOf(start, start + endBytes) + textOf(end - endBytes, end)))
    return true;
  return visit(textOf(start, end));
}

/** True if a last line without a newline is complete JSON; one that is too long to parse only has to end like an object. */
function isWhole(fd: number, start: number, end: number): boolean {
  const from = end - start > longLine ? end - 1 : start;
  const bytes = Buffer.allocUnsafe(end - from);
  const text = bytes.toString('utf8', 0, readFully(fd, bytes, bytes.length, from));
  if (from !== start) return text === '}';
  return attempt(() => JSON.parse(text) !== undefined, false);
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
