import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { isRalphError, messageOf, RalphError } from '../core/error.ts';
import { errorCode, writeFailure } from '../os/files/file-error.ts';
import {
  ensureDir,
  isRealDir,
  lstatOf,
  reclaimDir,
  refuseLinkedFolders,
  setAside,
} from '../os/files/files.ts';
import { readChunks } from '../os/files/open-file.ts';
import { readPart } from '../os/files/read-part.ts';
import { readEventLines, type Skipped } from './event-lines.ts';
import { type EventBody, type JournalEvent, readEvent } from './events.ts';
import { lastSeq } from './journal-append.ts';
import { journalVersion } from './journal-version.ts';
import { createSpool, type Spool, writeAll } from './spool.ts';

export type Journal = {
  append(body: EventBody): JournalEvent;
  /**
   * Writes the file anew, and sets the other aside, if it is not what we wrote; true when that was needed. A quick look
   * trusts the time of the last change, which may miss what happened within the same tick of the clock as our own write.
   */
  restore(look: 'quick' | 'whole'): boolean;
  close(): void;
};

export type JournalOptions = {
  /** Below it no folder may be a symlink; one that becomes something else later is put back with the journal. */
  readonly root?: string;
  /** Takes secrets out of an event, which is JSON before and after. */
  readonly clean?: (json: string) => string;
};

/** After these, the record has to survive a power cut before anything else is done. */
const durableNow = new Set<EventBody['type']>(['run.ended', 'run.yielded', 'run.abandoned']);
/** After these too, but the next agent need not wait for the disk. */
const durableSoon = new Set<EventBody['type']>(['run.started', 'decision']);
/** An agent may make thousands of these in a second: those that come together are written together. */
const gathered = new Set<EventBody['type']>(['tool.started', 'tool.ended', 'todo']);

/** Opens a journal for appending. A torn last line (a crash in the middle of a write) is cut off first. */
export function openJournal(path: string, now: () => number, options: JournalOptions = {}): Journal {
  const { root = dirname(path), clean = (json) => json } = options;
  refuseLinkedFolders(path, root);
  ensureDir(dirname(path));
  const content = readJournal(path);
  const { O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_NOFOLLOW = 0 } = constants;
  const open = (flags: number) => openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW | flags, 0o600);
  let { seq } = content;
  let fd = guard(path, () => open(0));
  if (fstatSync(fd).size > content.wholeBytes) ftruncateSync(fd, content.wholeBytes);
  const stamp = createStamp();
  const written = createSpool();
  for (const chunk of readChunks(fd, 0, content.wholeBytes)) written.add(chunk);
  let waiting = '';
  let later: NodeJS.Immediate | null = null;
  let syncing: NodeJS.Immediate | null = null;
  let failure: unknown = null;
  let changedAt = fstatSync(fd).ctimeMs;
  let suspect = false;

  function flush(): void {
    if (later) clearImmediate(later);
    later = null;
    if (failure) throw failure;
    if (waiting === '') return;
    const bytes = Buffer.from(waiting);
    waiting = '';
    suspect ||= fstatSync(fd).ctimeMs !== changedAt;
    guard(path, () => writeAll(fd, bytes));
    written.add(bytes);
    changedAt = fstatSync(fd).ctimeMs;
  }
  function flushLater(): void {
    later ??= setImmediate(() => {
      try {
        flush();
      } catch (error) {
        failure = error;
      }
    });
  }
  function syncNow(): void {
    syncing = null;
    fdatasync(fd, () => {});
  }
  function isOurs(look: 'quick' | 'whole'): boolean {
    if (!isRealDir(dirname(path), root) || !isInPlace(path, fd)) return false;
    const { ctimeMs, size } = fstatSync(fd);
    if (look === 'quick' && !suspect && ctimeMs === changedAt) return size === written.size();
    if (!holds(fd, written)) return false;
    changedAt = ctimeMs;
    suspect = false;
    return true;
  }

  return {
    append(body) {
      const json = JSON.stringify(body);
      const cleaned = clean(json);
      const head = { v: journalVersion, seq: seq + 1, at: stamp(now()) };
      const line = `{"v":${head.v},"seq":${head.seq},"at":"${head.at}",${cleaned.slice(1)}`;
      // To spread two objects into one takes 5 µs, longer than all the rest of a line.
      const event = cleaned === json ? Object.assign(head, body) : readEvent(line);
      if (typeof event === 'string') throw secretInEvent(body.type);
      seq++;
      waiting += `${line}\n`;
      if (gathered.has(body.type)) flushLater();
      else flush();
      guard(path, () => {
        if (durableNow.has(body.type)) fdatasyncSync(fd);
        if (durableSoon.has(body.type)) syncing ??= setImmediate(syncNow);
      });
      return event;
    },
    restore(look) {
      flush();
      if (isOurs(look)) return false;
      reclaimDir(dirname(path), root);
      setAside(path);
      guard(path, () => {
        const foreign = fd;
        fd = open(O_EXCL);
        closeSync(foreign);
        for (const chunk of written.chunks()) writeAll(fd, chunk);
        fdatasyncSync(fd);
      });
      changedAt = fstatSync(fd).ctimeMs;
      suspect = false;
      return true;
    },
    close() {
      try {
        flush();
      } finally {
        if (syncing) clearImmediate(syncing);
        closeSync(fd);
        written.close();
      }
    },
  };
}

/** Times as text; many events come within the same millisecond. */
function createStamp(): (time: number) => string {
  let last = Number.NaN;
  let text = '';
  return (time) => {
    if (time !== last) text = new Date(time).toISOString();
    last = time;
    return text;
  };
}

/** Whether the path still leads to the file that we have open. */
function isInPlace(path: string, fd: number): boolean {
  return lstatOf(path)?.ino === fstatSync(fd).ino;
}

/** Whether a file is what we wrote, no more, no less and nothing else. */
function holds(fd: number, written: Spool): boolean {
  if (fstatSync(fd).size !== written.size()) return false;
  let at = 0;
  for (const chunk of written.chunks()) {
    const found = Buffer.allocUnsafe(chunk.length);
    if (readSync(fd, found, 0, found.length, at) !== found.length || !found.equals(chunk)) return false;
    at += chunk.length;
  }
  return true;
}

/** A torn tail counts as a damaged line. */
export type JournalContent = Skipped & {
  readonly events: readonly JournalEvent[];
  /** The number of the last event. */
  readonly seq: number;
  /** Bytes up to and including the last whole line. */
  readonly wholeBytes: number;
};

/** Reads what can be read. A missing file is an empty journal. */
export function readJournal(path: string): JournalContent {
  const bytes = readBytes(path);
  const wholeBytes = bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.subarray(0, wholeBytes).toString('utf8').split('\n');
  const { events, damaged, unknown } = readEventLines(lines, readEvent);
  const torn = wholeBytes < bytes.length ? 1 : 0;
  return { events, damaged: damaged + torn, unknown, seq: lastSeq(lines) ?? 0, wholeBytes };
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw new RalphError('journal-unreadable', `${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * The last whole event, from the end of the file: a journal may be long. Null without one. What was notified is left
 * out, because it may come after the end.
 */
export function lastEvent(path: string): JournalEvent | null {
  const tailBytes = 256 * 1024;
  const lines = readPart(path, -tailBytes, tailBytes)?.toString('utf8').split('\n') ?? [];
  for (const line of lines.slice(0, -1).reverse()) {
    const event = readEvent(line);
    if (typeof event !== 'string' && event.type !== 'notified') return event;
  }
  return null;
}

function guard<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw journalFailure(path, error);
  }
}

/** A secret may be any text, so also a word that an event needs. */
function secretInEvent(type: EventBody['type']): RalphError {
  const message = `an event (${type}) cannot be written, because a word that it needs is the value of a secret variable`;
  return new RalphError('journal-secret', message, { remedy: 'give that variable another value' });
}

function journalFailure(path: string, error: unknown): unknown {
  const failure = writeFailure(path, error);
  if (!isRalphError(failure) || failure.code !== 'disk-full') return failure;
  const remedy = 'free some space (df -h shows where), then ralph run --resume';
  return new RalphError(failure.code, failure.message, { remedy, cause: error });
}
