import * as fs from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { systemClock } from '../system/clock.ts';
import { ensureDir, readJsonAs, removeIfThere, writeAtomic } from '../system/files.ts';
import { mailboxPath } from './paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `iteration`: stop when the iteration is over. `now`: end the agent. */
export type StopRequest = 'iteration' | 'now';

const stopSchema = v.object({ how: v.fallback(v.picklist(['iteration', 'now']), 'iteration') });
const noteSchema = v.object({ text: v.string() });
const denialSchema = v.object({
  tool: v.string(),
  /** The command, or the file. */
  what: v.string(),
  category: v.string(),
  reason: v.string(),
});

/** A tool call that the guard refused. */
export type Denial = Readonly<v.InferOutput<typeof denialSchema>>;

export type Mailbox = {
  /** Notes that came since the last call, oldest first; each is given once. */
  takeNotes(): string[];
  /** What the guard refused since the last call. */
  takeDenials(): Denial[];
  /** Until something changes in the mailbox, or for a while: what cannot be watched is looked at again and again. */
  waitForChange(signal: AbortSignal): Promise<void>;
  close(): void;
};

/** Between two looks at a mailbox that is watched, and at one that cannot be. */
const usualLooks = { watchedMs: 10_000, unwatchedMs: 500 };

/** Leaves a note for the next prompt of a running loop. */
export function postNote(env: Environment, run: string, text: string, now: number): void {
  post(env, run, nameAt('note', now), { text });
}

/** Tells a running loop what its guard refused; only the loop itself writes to its journal. */
export function postDenial(env: Environment, run: string, denial: Denial, now: number): void {
  post(env, run, nameAt('denial', now), denial);
}

export function postStop(env: Environment, run: string, how: StopRequest): void {
  post(env, run, 'stop.json', { how });
}

/** Lets a loop wait after the iteration that runs, or go on. */
export function postPause(env: Environment, run: string, isPaused: boolean): void {
  if (isPaused) post(env, run, 'pause.json', {});
  else fs.rmSync(join(mailboxPath(env, run), 'pause.json'), { force: true });
}

/** Whether somebody wants the loop to wait. */
export function isPaused(env: Environment, run: string): boolean {
  return fs.existsSync(join(mailboxPath(env, run), 'pause.json'));
}

/** Opens the mailbox of a run; `onStop` is called as soon as somebody asks for it. */
export function openMailbox(
  env: Environment,
  run: string,
  onStop: (how: StopRequest) => void,
  looks = usualLooks,
): Mailbox {
  const folder = mailboxPath(env, run);
  ensureDir(folder);
  const look = (): void => {
    const stop = readJsonAs(join(folder, 'stop.json'), stopSchema);
    if (stop !== null) onStop(stop.how);
  };
  // What was asked of an earlier process of this run is over.
  for (const name of ['stop.json', 'pause.json']) removeIfThere(join(folder, name));
  let watcher: fs.FSWatcher | null = null;
  let wake = (): void => {};
  // The first agent need not wait for it.
  const starting = setImmediate(() => {
    watcher = watch(folder, () => {
      look();
      wake();
    });
    look();
  });
  return {
    takeNotes() {
      look();
      return take(folder, 'note', noteSchema).map(({ text }) => text);
    },
    takeDenials: () => take(folder, 'denial', denialSchema),
    async waitForChange(signal) {
      const change = new AbortController();
      wake = () => change.abort();
      const ms = watcher === null ? looks.unwatchedMs : looks.watchedMs;
      await systemClock.sleep(ms, AbortSignal.any([signal, change.signal]));
    },
    close() {
      clearImmediate(starting);
      watcher?.close();
      for (const name of ['stop.json', 'pause.json']) removeIfThere(join(folder, name));
      // Notes that nobody has read wait for the run to be resumed.
      if (fs.existsSync(folder) && fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
    },
  };
}

/** What was left under this name, oldest first; it is gone afterwards. */
function take<S extends v.GenericSchema>(folder: string, kind: string, schema: S): v.InferOutput<S>[] {
  if (!fs.existsSync(folder)) return [];
  const names = fs
    .readdirSync(folder)
    .filter((name) => name.startsWith(`${kind}-`) && name.endsWith('.json'));
  return names.sort().flatMap((name) => {
    const path = join(folder, name);
    const message = readJsonAs(path, schema);
    fs.rmSync(path, { force: true });
    return message === null ? [] : [message];
  });
}

function nameAt(kind: string, now: number): string {
  return `${kind}-${String(now).padStart(15, '0')}-${Math.random().toString(36).slice(2)}.json`;
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
