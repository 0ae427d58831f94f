import { constants, type Stats } from 'node:fs';
import { join } from 'node:path';
import { tryReadText } from '../os/files/files.ts';
import { readChunks, tryFile } from '../os/files/open-file.ts';

export type LogRead =
  | { readonly kind: 'text'; readonly text: string; readonly truncated: boolean }
  | { readonly kind: 'missing' }
  /** The file was written at another time than the event says: a later run has used the name again. */
  | { readonly kind: 'replaced' };

/** Reads the end of a log that a journal names, if the file is still the one that the event means. */
export function readLog(
  cwd: string,
  log: string,
  writtenAt: number,
  { maxBytes, slackMs }: { readonly maxBytes: number; readonly slackMs: number },
): LogRead {
  if (!/^\.ralph\/[^\0]+$/.test(log) || log.split('/').includes('..')) return { kind: 'missing' };
  const readEnd = (fd: number, { size, mtimeMs }: Stats): LogRead => {
    if (Math.abs(mtimeMs - writtenAt) > slackMs) return { kind: 'replaced' };
    const from = Math.max(0, size - maxBytes);
    const bytes = Buffer.concat([...readChunks(fd, from, size)]);
    return { kind: 'text', text: bytes.toString('utf8'), truncated: from > 0 };
  };
  return tryFile(join(cwd, log), readEnd, constants.O_NOFOLLOW ?? 0) ?? { kind: 'missing' };
}

const maxPromptBytes = 100_000;

/** Reads a prompt for people to look at; null if there is none, or if it is too long for that. */
export function readPrompt(path: string): string | null {
  return tryReadText(path, { maxBytes: maxPromptBytes });
}
