import * as fs from 'node:fs';
import { stampSeconds } from './fleet-time.ts';

const tailBytes = 16 * 1024;

/** Kinds of lines in `iterations.log`. */
export type LogKind = 'START' | 'END' | 'FAIL' | 'TIMEOUT' | 'DONE' | 'PAUSE' | 'RESUME' | 'STOP' | 'WARN';

/** One line of `iterations.log`, such as `2024-01-15T10:30:00 [START] iteration 1/100`. */
export function logLine(at: number, kind: LogKind, text: string): string {
  return `${stampSeconds(at)} [${kind}] ${text}`;
}

/** Adds the lines that the end of the log does not have yet, each with what it holds of time and iteration. */
export function ensureLogLines(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const tail = readTail(path);
  const known = new Set(tail.split('\n'));
  const missing = lines.filter((line) => !known.has(line));
  if (missing.length === 0) return;
  // A line that a crash cut off stays as it is; the next one begins on its own line.
  const start = tail === '' || tail.endsWith('\n') ? '' : '\n';
  fs.appendFileSync(path, `${start}${missing.join('\n')}\n`, { mode: 0o600 });
}

/** Adds a line with its time to a log that several processes write to. */
export function appendLogLine(path: string, at: number, text: string): void {
  fs.appendFileSync(path, `${stampSeconds(at)} ${text}\n`, { mode: 0o600 });
}

/** The lines of a log, the last `count` of them where that is given; null without a log. */
export function readLogLines(path: string, count?: number): string[] | null {
  if (!fs.existsSync(path)) return null;
  const lines = fs.readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return count === undefined ? lines : lines.slice(Math.max(0, lines.length - count));
}

function readTail(path: string): string {
  let fd: number;
  try {
    fd = fs.openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fs.fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, tailBytes));
    fs.readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8');
  } finally {
    fs.closeSync(fd);
  }
}
