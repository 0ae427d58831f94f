import { join } from 'node:path';
import * as v from 'valibot';
import { mailboxPath } from '../config/paths.ts';
import { messageOf } from '../core/error.ts';
import { failureOf } from '../core/outcome.ts';
import { systemClock } from '../os/clock.ts';
import {
  ensureDir,
  listDir,
  lstatOf,
  readJsonAs,
  removeEmptyDir,
  removeIfThere,
  writeAtomic,
} from '../os/files/files.ts';
import { watchFolder } from '../os/files/watch-folder.ts';
import type { Environment } from '../os/process/program.ts';

/** `iteration`: stop when the iteration is over. `now`: end the agent. */
export type StopRequest = 'iteration' | 'now';

const stopSchema = v.object({ how: v.fallback(v.picklist(['iteration', 'now']), 'iteration') });
const noteSchema = v.object({ text: v.string() });
const denialSchema = v.object({
  tool: v.string(),
  what: v.string(),
  category: v.string(),
  reason: v.string(),
});

const refusalFile = 'refusal.json';
const refusalSchema = v.object({ code: v.string(), text: v.string() });
type Refusal = Readonly<v.InferOutput<typeof refusalSchema>>;

/** A tool call that the guard refused. */
export type Denial = Readonly<v.InferOutput<typeof denialSchema>>;

export type Mailbox = ReturnType<typeof openMailbox>;

/** Intervals between two looks at a mailbox that is watched, and at one that cannot be. */
const usualLooks = { watchedMs: 10_000, unwatchedMs: 500 };

/** Leaves a note for the next prompt of a running loop. */
export function postNote(env: Environment, run: string, text: string, now: number): void {
  post(env, run, nameAt('note', now), { text });
}

/** Reports a denied tool call to a running loop; only the loop itself writes to its journal. */
export function postDenial(env: Environment, run: string, denial: Denial, now: number): void {
  post(env, run, nameAt('denial', now), denial);
}

export function postStop(env: Environment, run: string, how: StopRequest): void {
  post(env, run, 'stop.json', { how });
}

/** Tells the supervisor of a run why its process could not start. Never throws. */
export function postRefusal(env: Environment, run: string, error: unknown): void {
  try {
    post(env, run, refusalFile, { code: failureOf(error).code, text: messageOf(error) });
  } catch {
    // The supervisor still has the exit code.
  }
}

/** Takes the reason why the last process of a run could not start; null if it did. */
export function takeRefusal(env: Environment, run: string): Refusal | null {
  const path = join(mailboxPath(env, run), refusalFile);
  const refusal = readJsonAs(path, refusalSchema);
  removeIfThere(path);
  return refusal;
}

/** Pauses a loop after the current iteration, or resumes it. */
export function postPause(env: Environment, run: string, isPaused: boolean): void {
  if (isPaused) post(env, run, 'pause.json', {});
  else removeIfThere(join(mailboxPath(env, run), 'pause.json'));
}

/** True if somebody wants the loop to wait. */
export function isPaused(env: Environment, run: string): boolean {
  return lstatOf(join(mailboxPath(env, run), 'pause.json')) !== null;
}

/** Opens the mailbox of a run. Calls `onStop` as soon as somebody asks for a stop. */
export function openMailbox(
  env: Environment,
  run: string,
  onStop: (how: StopRequest) => void,
  looks = usualLooks,
) {
  const folder = mailboxPath(env, run);
  ensureDir(folder);
  const look = (): void => {
    const stop = readJsonAs(join(folder, 'stop.json'), stopSchema);
    if (stop !== null) onStop(stop.how);
  };
  // What was asked of an earlier process of this run is over.
  for (const name of ['stop.json', 'pause.json']) removeIfThere(join(folder, name));
  let endWatch: (() => void) | null = null;
  let wake = (): void => {};
  // The first agent need not wait for it.
  const starting = setImmediate(() => {
    endWatch = watchFolder(folder, () => {
      look();
      wake();
    });
    look();
  });
  return {
    /** Returns notes that came since the last call, oldest first. */
    takeNotes(): string[] {
      look();
      return take(folder, 'note', noteSchema).map(({ text }) => text);
    },
    /** Returns the tool calls that the guard denied since the last call. */
    takeDenials: (): Denial[] => take(folder, 'denial', denialSchema),
    isPaused: () => isPaused(env, run),
    /** Waits until the mailbox changes or, since some file systems cannot be watched, for a short time. */
    async waitForChange(signal: AbortSignal): Promise<void> {
      const change = new AbortController();
      wake = () => change.abort();
      const ms = endWatch === null ? looks.unwatchedMs : looks.watchedMs;
      await systemClock.sleep(ms, AbortSignal.any([signal, change.signal]));
    },
    close(): void {
      clearImmediate(starting);
      endWatch?.();
      for (const name of ['stop.json', 'pause.json']) removeIfThere(join(folder, name));
      // Notes that nobody has read wait for the run to be resumed.
      removeEmptyDir(folder);
    },
  };
}

/** Returns and removes the messages of this kind, oldest first. */
function take<S extends v.GenericSchema>(folder: string, kind: string, schema: S): v.InferOutput<S>[] {
  const names = listDir(folder).filter((name) => name.startsWith(`${kind}-`) && name.endsWith('.json'));
  return names.flatMap((name) => {
    const path = join(folder, name);
    const message = readJsonAs(path, schema);
    removeIfThere(path);
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
