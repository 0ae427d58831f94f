import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensureDir, readJson, writeAtomic } from '../system/files.ts';
import { mailboxPath } from './paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `iteration`: stop when the iteration is over. `now`: end the agent. */
export type StopRequest = 'iteration' | 'now';

export type Mailbox = {
  /** Notes that came since the last call, oldest first; each is given once. */
  takeNotes(): string[];
  close(): void;
};

/** Leaves a note for the next prompt of a running loop. */
export function postNote(env: Environment, run: string, text: string, now: number): void {
  post(env, run, `note-${String(now).padStart(15, '0')}-${Math.random().toString(36).slice(2)}.json`, {
    text,
  });
}

export function postStop(env: Environment, run: string, how: StopRequest): void {
  post(env, run, 'stop.json', { how });
}

/** Opens the mailbox of a run; `onStop` is called as soon as somebody asks for it. */
export function openMailbox(env: Environment, run: string, onStop: (how: StopRequest) => void): Mailbox {
  const folder = mailboxPath(env, run);
  ensureDir(folder);
  const look = (): void => {
    const read = readJson(join(folder, 'stop.json'));
    if (!read.ok || typeof read.value !== 'object' || read.value === null || !('how' in read.value)) return;
    onStop(read.value.how === 'now' ? 'now' : 'iteration');
  };
  // What was asked of an earlier process of this run is over.
  fs.rmSync(join(folder, 'stop.json'), { force: true });
  const watcher = watch(folder, look);
  return {
    takeNotes() {
      look();
      const names = fs.existsSync(folder)
        ? fs
            .readdirSync(folder)
            .filter((name) => /^note-.*\.json$/.test(name))
            .sort()
        : [];
      return names.flatMap((name) => takeNote(join(folder, name)));
    },
    close() {
      watcher?.close();
      fs.rmSync(join(folder, 'stop.json'), { force: true });
      // Notes that nobody has read wait for the run to be resumed.
      if (fs.existsSync(folder) && fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
    },
  };
}

function takeNote(path: string): string[] {
  const read = readJson(path);
  fs.rmSync(path, { force: true });
  if (!read.ok || typeof read.value !== 'object' || read.value === null || !('text' in read.value)) return [];
  return typeof read.value.text === 'string' ? [read.value.text] : [];
}

function post(env: Environment, run: string, name: string, value: object): void {
  ensureDir(mailboxPath(env, run));
  writeAtomic(join(mailboxPath(env, run), name), `${JSON.stringify(value)}\n`, { fsync: false });
}

/** Some file systems cannot be watched; word is then found between two iterations. */
function watch(folder: string, onChange: () => void): fs.FSWatcher | null {
  try {
    return fs.watch(folder, onChange).on('error', () => {});
  } catch {
    return null;
  }
}
