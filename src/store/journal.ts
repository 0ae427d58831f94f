import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, RalphError } from '../core/error.ts';
import { ensureDir, errorCode } from '../system/files.ts';
import { type EventBody, type JournalEvent, journalVersion } from './events.ts';

export type Journal = {
  readonly path: string;
  append(body: EventBody): JournalEvent;
  /** Puts the file back if somebody removed it; true when that was needed. */
  restore(): boolean;
  close(): void;
};

/** After these, the record has to survive a power cut. */
const durable = new Set<EventBody['type']>([
  'run.started',
  'verdict',
  'decision',
  'run.ended',
  'run.abandoned',
]);

/** Opens a journal for appending. A torn last line (a crash in the middle of a write) is cut off first. */
export function openJournal(path: string, now: () => number): Journal {
  ensureDir(dirname(path));
  const { events, wholeBytes } = readJournal(path);
  let seq = events.at(-1)?.seq ?? 0;
  let fd = open(path);
  if (fs.fstatSync(fd).size > wholeBytes) fs.ftruncateSync(fd, wholeBytes);

  return {
    path,
    append(body) {
      const event = { v: journalVersion, seq: ++seq, at: new Date(now()).toISOString(), ...body };
      try {
        fs.writeSync(fd, `${JSON.stringify(event)}\n`);
        if (durable.has(body.type)) fs.fdatasyncSync(fd);
      } catch (error) {
        throw journalFailure(path, error);
      }
      return event;
    },
    restore() {
      if (fs.fstatSync(fd).nlink > 0 && fs.existsSync(path)) return false;
      const held = readAll(fd);
      fs.closeSync(fd);
      ensureDir(dirname(path));
      fd = open(path);
      fs.writeSync(fd, held);
      return true;
    },
    close() {
      fs.closeSync(fd);
    },
  };
}

export type JournalContent = {
  readonly events: readonly JournalEvent[];
  /** Lines that are no events: 1 for a torn tail, more if somebody edited the file. */
  readonly damaged: number;
  /** Bytes up to and including the last whole line. */
  readonly wholeBytes: number;
};

/** Reads what can be read. A missing file is an empty journal. */
export function readJournal(path: string): JournalContent {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { events: [], damaged: 0, wholeBytes: 0 };
    throw new RalphError('journal-unreadable', `${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const wholeBytes = bytes.lastIndexOf(0x0a) + 1;
  const events: JournalEvent[] = [];
  let damaged = wholeBytes < bytes.length ? 1 : 0;
  for (const line of bytes.subarray(0, wholeBytes).toString('utf8').split('\n')) {
    if (line === '') continue;
    const event = parseEvent(line);
    if (event) events.push(event);
    else damaged++;
  }
  return { events, damaged, wholeBytes };
}

/** The last whole event, from the end of the file: a journal may be long. Null without one. */
export function lastEvent(path: string): JournalEvent | null {
  if (!fs.existsSync(path)) return null;
  const tailBytes = 256 * 1024;
  const fd = fs.openSync(path, 'r');
  try {
    const from = Math.max(0, fs.fstatSync(fd).size - tailBytes);
    const tail = Buffer.alloc(tailBytes);
    const length = fs.readSync(fd, tail, 0, tailBytes, from);
    const lines = tail.subarray(0, length).toString('utf8').split('\n');
    for (const line of lines.slice(0, -1).reverse()) {
      const event = parseEvent(line);
      if (event) return event;
    }
    return null;
  } finally {
    fs.closeSync(fd);
  }
}

function parseEvent(line: string): JournalEvent | null {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return null;
    const { v, seq, type } = value as Partial<JournalEvent>;
    return v === journalVersion && typeof seq === 'number' && typeof type === 'string'
      ? (value as JournalEvent)
      : null;
  } catch {
    return null;
  }
}

function open(path: string): number {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW = 0 } = fs.constants;
  try {
    return fs.openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw journalFailure(path, error);
  }
}

function readAll(fd: number): Buffer {
  const held = Buffer.alloc(fs.fstatSync(fd).size);
  fs.readSync(fd, held, 0, held.length, 0);
  return held;
}

function journalFailure(path: string, error: unknown): RalphError {
  if (errorCode(error) === 'ENOSPC' || errorCode(error) === 'EDQUOT') {
    return new RalphError('disk-full', `there is no space left to write ${path}`, {
      remedy: 'free some space (df -h shows where), then ralph run --resume',
      cause: error,
    });
  }
  return new RalphError('journal-unwritable', `${path} cannot be written: ${messageOf(error)}`, {
    cause: error,
  });
}
