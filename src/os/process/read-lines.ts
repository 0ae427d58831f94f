import { readChunks, useFile } from '../files/open-file.ts';
import { createLineSplitter } from './lines.ts';

/** Passes every line of a file to `onLine`, in memory that does not grow with it. False if there is no such file. */
export function readLines(path: string, onLine: (line: Buffer) => void): boolean {
  const wasRead = useFile(path, (fd) => {
    const lines = createLineSplitter(onLine);
    for (const chunk of readChunks(fd, 0)) lines.push(chunk);
    lines.end();
    return true;
  });
  return wasRead ?? false;
}
