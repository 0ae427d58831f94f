import * as fs from 'node:fs';
import { join } from 'node:path';
import { tryReadText } from '../os/files/files.ts';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants;

export type LogRead =
  | { readonly kind: 'text'; readonly text: string; readonly truncated: boolean }
  | { readonly kind: 'missing' }
  /** The file was written at another time than the event tells: a later run has used the name again. */
  | { readonly kind: 'replaced' };

/** The end of a log that a journal names, as long as the file is still the one that the event speaks of. */
export function readLog(
  cwd: string,
  log: string,
  writtenAt: number,
  { maxBytes, slackMs }: { readonly maxBytes: number; readonly slackMs: number },
): LogRead {
  if (!/^\.ralph\/[^\0]+$/.test(log) || log.split('/').includes('..')) return { kind: 'missing' };
  let fd: number;
  try {
    fd = fs.openSync(join(cwd, log), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return { kind: 'missing' };
  }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) return { kind: 'missing' };
    if (Math.abs(stat.mtimeMs - writtenAt) > slackMs) return { kind: 'replaced' };
    const from = Math.max(0, stat.size - maxBytes);
    const bytes = Buffer.alloc(stat.size - from);
    const length = fs.readSync(fd, bytes, 0, bytes.length, from);
    return { kind: 'text', text: bytes.subarray(0, length).toString('utf8'), truncated: from > 0 };
  } finally {
    fs.closeSync(fd);
  }
}

const maxPromptBytes = 100_000;

/** The text of a prompt, for people to look at; null where there is none, or one that is too long for that. */
export function readPrompt(path: string): string | null {
  return tryReadText(path, { maxBytes: maxPromptBytes });
}
