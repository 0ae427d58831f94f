import { appendText } from '../../os/files/append-text.ts';
import { readText } from '../../os/files/files.ts';
import { readPart } from '../../os/files/read-part.ts';
import { stampSeconds } from './time.ts';

const tailBytes = 16 * 1024;

export type LogKind = 'START' | 'END' | 'FAIL' | 'TIMEOUT' | 'DONE' | 'PAUSE' | 'RESUME' | 'STOP' | 'WARN';

/** Formats a line of `iterations.log`, such as `2024-01-15T10:30:00 [START] iteration 1/100`. */
export function logLine(at: number, kind: LogKind, text: string): string {
  return `${stampSeconds(at)} [${kind}] ${text}`;
}

/** Adds the lines that the end of the log does not have yet. Each is unique by its time. */
export function ensureLogLines(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const tail = readPart(path, -tailBytes, tailBytes)?.toString('utf8') ?? '';
  const tailLines = new Set(tail.split('\n'));
  const missing = lines.filter((line) => !tailLines.has(line));
  if (missing.length === 0) return;
  // A line that a crash cut off stays as it is; the next one begins on its own line.
  const start = tail === '' || tail.endsWith('\n') ? '' : '\n';
  appendText(path, `${start}${missing.join('\n')}\n`);
}

/** Adds a line with its time to a log that several processes write to. */
export function appendLogLine(path: string, at: number, text: string): void {
  appendText(path, `${stampSeconds(at)} ${text}\n`);
}

export function readLogLines(path: string): string[] {
  const text = readText(path, { maxBytes: Number.POSITIVE_INFINITY }) ?? '';
  return text.split('\n').filter(Boolean);
}
