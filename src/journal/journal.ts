import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  readFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { RalphError } from '../core/error.ts';
import { writing } from '../os/files/file-error.ts';
import {
  ensureDir,
  isRealDir,
  lstatOf,
  reclaimDir,
  refuseLinkedFolders,
  setAside,
} from '../os/files/files.ts';
import { readChunks, useFile } from '../os/files/open-file.ts';
import { readPart } from '../os/files/read-part.ts';
import { readEventLines } from './event-lines.ts';
import { type EventBody, type JournalEvent, readEvent } from './events.ts';
import { cutToWholeLines, lastSeq, openRegular } from './journal-append.ts';
import { journalVersion } from './journal-version.ts';
import { createSpool, type Spool, writeAll } from './spool.ts';

export type Journal = ReturnType<typeof openJournal>;

export type JournalOptions = {
  /** No folder below it may be a symlink; one that is replaced later is put back with the journal. */
  readonly root?: string;
  /** Takes secrets out of an event in JSON. */
  readonly clean?: (json: string) => string;
};

/** Flushed to disk before anything else is done. */
const durableNow = new Set<EventBody['type']>(['run.ended', 'run.yielded', 'run.abandoned']);
/** Flushed to disk, but the next agent does not wait for it. */
const durableSoon = new Set<EventBody['type']>(['run.started', 'decision']);
/** Written together if they come together: an agent may make thousands of these in a second. */
const gathered = new Set<EventBody['type']>(['tool.started', 'tool.ended', 'todo']);

/** Opens a journal for appending. Cuts off a torn last line first, which a crash in the middle of a write leaves. */
export function openJournal(path: string, now: () => number, options: JournalOptions = {}) {
  const { root = dirname(path), clean = (json) => json } = options;
  const file = openFile(path, root);
  let { seq } = file;
  const lines = gatherLines((text) => file.write(text));

  return {
    append(body: EventBody): JournalEvent {
      const json = JSON.stringify(body);
      const cleaned = clean(json);
      const head = { v: journalVersion, seq: seq + 1, at: new Date(now()).toISOString() };
      const line = `{"v":${head.v},"seq":${head.seq},"at":"${head.at}",${cleaned.slice(1)}`;
      // Spreading two objects into one takes 5 µs, longer than all the rest of a line.
      const event = cleaned === json ? Object.assign(head, body) : readEvent(line);
      if (typeof event === 'string') throw secretInEvent(body.type);
      seq++;
      lines.add(`${line}\n`);
      if (gathered.has(body.type)) lines.flushLater();
      else lines.flush();
      if (durableNow.has(body.type)) file.sync();
      if (durableSoon.has(body.type)) file.syncSoon();
      return event;
    },
    /** Writes the file anew if it is not what we wrote, and sets the other aside; true if that was needed. */
    restore(look: 'quick' | 'whole'): boolean {
      lines.flush();
      if (file.isIntact(look)) return false;
      file.rewrite();
      return true;
    },
    close(): void {
      try {
        lines.close();
      } finally {
        file.close();
      }
    },
  };
}

/** Keeps lines until they are written; those that could not be are tried again with the next, so that no number is left out. */
function gatherLines(write: (text: string) => void) {
  let lines = '';
  let later: NodeJS.Immediate | null = null;
  let failure: unknown = null;
  let hasFailed = false;

  function flush(): void {
    if (later) clearImmediate(later);
    later = null;
    const earlier = failure;
    failure = null;
    if (earlier !== null) throw earlier;
    if (lines === '') return;
    hasFailed = true;
    write(lines);
    hasFailed = false;
    lines = '';
  }
  return {
    flush,
    /** Writes what is left. A failure that was told already is not told again. */
    close(): void {
      const isTold = hasFailed;
      try {
        flush();
      } catch (error) {
        if (!isTold) throw error;
      }
    },
    add(line: string): void {
      lines += line;
    },
    flushLater(): void {
      later ??= setImmediate(() => {
        try {
          flush();
        } catch (error) {
          failure = error;
        }
      });
    },
  };
}

/** The file of a journal, with a copy of all that belongs in it. */
function openFile(path: string, root: string) {
  refuseLinkedFolders(path, root);
  ensureDir(dirname(path));
  let fd = writing(path, () => openRegular(path, constants.O_APPEND));
  const seq = cutToWholeLines(fd);
  const copy = createSpool();
  for (const chunk of readChunks(fd, 0)) copy.add(chunk);
  let changedAt = fstatSync(fd).ctimeMs;
  let suspect = false;
  let syncing: NodeJS.Immediate | null = null;

  return {
    seq,
    write(text: string): void {
      const bytes = Buffer.from(text);
      suspect ||= fstatSync(fd).ctimeMs !== changedAt;
      writing(path, () => writeWhole(fd, bytes, copy.size()));
      copy.add(bytes);
      changedAt = fstatSync(fd).ctimeMs;
    },
    sync: () => writing(path, () => fdatasyncSync(fd)),
    syncSoon(): void {
      syncing ??= setImmediate(() => {
        syncing = null;
        fdatasync(fd, () => {});
      });
    },
    /** A quick look trusts the time of the last change, which may miss one in the same tick as our own write. */
    isIntact(look: 'quick' | 'whole'): boolean {
      if (!isRealDir(dirname(path), root) || lstatOf(path)?.ino !== fstatSync(fd).ino) return false;
      const { ctimeMs, size } = fstatSync(fd);
      if (look === 'quick' && !suspect && ctimeMs === changedAt) return size === copy.size();
      if (!isSame(fd, copy)) return false;
      changedAt = ctimeMs;
      suspect = false;
      return true;
    },
    rewrite(): void {
      reclaimDir(dirname(path), root);
      setAside(path);
      writing(path, () => {
        const foreign = fd;
        fd = openRegular(path, constants.O_APPEND | constants.O_EXCL);
        closeSync(foreign);
        for (const chunk of copy.chunks()) writeAll(fd, chunk);
        fdatasyncSync(fd);
      });
      changedAt = fstatSync(fd).ctimeMs;
      suspect = false;
    },
    close(): void {
      if (syncing) clearImmediate(syncing);
      closeSync(fd);
      copy.close();
    },
  };
}

/** Appends all of the bytes or nothing. */
function writeWhole(fd: number, bytes: Uint8Array, size: number): void {
  try {
    writeAll(fd, bytes);
  } catch (error) {
    ftruncateSync(fd, size);
    throw error;
  }
}

function isSame(fd: number, copy: Spool): boolean {
  if (fstatSync(fd).size !== copy.size()) return false;
  let at = 0;
  for (const chunk of copy.chunks()) {
    const bytes = Buffer.concat([...readChunks(fd, at, at + chunk.length)]);
    if (!bytes.equals(chunk)) return false;
    at += chunk.length;
  }
  return true;
}

/** Reads the events of a journal. A missing file is an empty journal, and a torn last line counts as damaged. */
export function readJournal(path: string) {
  const lines = (useFile(path, (fd) => readFileSync(fd, 'utf8')) ?? '').split('\n');
  const tornLines = lines.pop() === '' ? 0 : 1;
  const { events, damaged, unknown } = readEventLines(lines, readEvent);
  // The number of the last event, known or not.
  const seq = lastSeq(lines) ?? 0;
  return { events, damaged: damaged + tornLines, unknown, seq };
}

/** Returns the last whole event but `notified`, which may come after the end; reads only the end of the file. */
export function lastEvent(path: string): JournalEvent | null {
  const tailBytes = 256 * 1024;
  const lines = readPart(path, -tailBytes, tailBytes)?.toString('utf8').split('\n') ?? [];
  for (const line of lines.slice(0, -1).reverse()) {
    const event = readEvent(line);
    if (typeof event !== 'string' && event.type !== 'notified') return event;
  }
  return null;
}

/** The value of a secret may be any text, also a word that an event needs. */
function secretInEvent(type: EventBody['type']): RalphError {
  const message = `an event (${type}) cannot be written, because a word that it needs is the value of a secret variable`;
  return new RalphError('journal-secret', message, { remedy: 'give that variable another value' });
}
