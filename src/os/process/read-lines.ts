import * as fs from 'node:fs';
import { messageOf, RalphError } from '../../core/error.ts';
import { errorCode } from '../files/file-error.ts';
import { createLineSplitter } from './lines.ts';

const { O_NONBLOCK = 0, O_RDONLY } = fs.constants;
const chunkBytes = 256 * 1024;

/** Gives every line of a file, in memory that does not grow with it. False when there is no such file. */
export function readLines(path: string, onLine: (line: Buffer) => void): boolean {
  const fd = open(path);
  if (fd === null) return false;
  try {
    if (!fs.fstatSync(fd).isFile()) {
      throw new RalphError('file-unreadable', `${path} is not a regular file.`);
    }
    const lines = createLineSplitter(onLine);
    for (;;) {
      // The splitter keeps views of a chunk, so that every chunk needs memory of its own.
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const length = fs.readSync(fd, chunk, 0, chunkBytes, null);
      if (length === 0) break;
      lines.push(chunk.subarray(0, length));
    }
    lines.end();
    return true;
  } finally {
    fs.closeSync(fd);
  }
}

function open(path: string): number | null {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    return fs.openSync(path, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw new RalphError('file-unreadable', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
