import { StringDecoder } from 'node:string_decoder';
import { keepEarlierLog, openStreamLog } from '../journal/stream-log.ts';
import type { Redactor } from '../os/redact/redact.ts';
import { createTerminalCleaner } from '../os/terminal/clean-terminal.ts';

const tailChars = 64 * 1024;
const tailLines = 2000;

/** Writes the output of a program to its log, without secrets, and keeps the end of it as text. */
export function openOutput(path: string, redactor: Redactor) {
  keepEarlierLog(path);
  const log = openStreamLog(path);
  let tail = '';
  let hasChanged = false;

  const pipe = () => {
    const redact = redactor.stream();
    const [decoder, cleaner] = [new StringDecoder('utf8'), createTerminalCleaner()];
    const take = (bytes: Buffer) => {
      log.write(bytes);
      tail = (tail + cleaner.push(decoder.write(bytes))).slice(-tailChars);
      hasChanged = true;
    };
    return { push: (chunk: Buffer) => take(redact.push(chunk)), end: () => take(redact.end()) };
  };
  const [stdout, stderr] = [pipe(), pipe()];

  return {
    stdout,
    stderr,
    tail: () => tail,
    lines: () => tail.split('\n').slice(-tailLines),
    /** True if anything was printed since the last call. */
    takeChange(): boolean {
      const before = hasChanged;
      hasChanged = false;
      return before;
    },
    /** Adds a line of our own. */
    add(text: string): void {
      log.write(text);
      tail += text;
    },
    end(): void {
      stdout.end();
      stderr.end();
    },
    close: () => log.close(),
  };
}
