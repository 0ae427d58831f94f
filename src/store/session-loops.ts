import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import {
  ensureDir,
  errorCode,
  readJson,
  readJsonAs,
  readText,
  removeIfThere,
  setAside,
  writeAtomic,
} from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';
import { loopState } from './loop-schemas.ts';
import { stateFolder } from './paths.ts';

/** How far a host's transcript was read. */
const transcriptMark = v.object({
  path: v.nullable(v.string()),
  offset: v.number(),
  /** The end of the last answer where the transcript did not hold it yet: it belongs to the turn before. */
  unseen: v.nullable(v.string()),
});

/** A loop inside an agent's session, as it stands on disk between two hooks. */
const sessionLoop = v.object({
  v: v.literal(1),
  host: v.string(),
  sessionId: v.string(),
  cwd: v.string(),
  run: v.string(),
  command: v.string(),
  status: v.picklist(['active', 'paused']),
  /** Without a promise nothing that the agent says could end it. */
  loop: v.pipe(
    loopState,
    v.check(({ plan }) => plan.completion.promise !== undefined),
  ),
  verify: v.pipe(v.array(v.string()), v.readonly()),
  /** What the user asked for; the plan has 0 where the policy does not reject. */
  minToolCalls: v.number(),
  onPromiseNoWork: v.picklist(['reject', 'warn', 'accept']),
  /** The prompt that started it, so that a second event of the same prompt starts nothing. */
  promptId: v.nullable(v.string()),
  /** The folder of the hooks that drive it: with two copies installed, only one does. */
  driver: v.string(),
  transcript: transcriptMark,
  /** When the background tasks that it waits for were first seen, by their ids. */
  waitsFor: v.exactOptional(v.record(v.string(), v.number())),
  /** Epoch milliseconds. */
  startedAt: v.number(),
  turnStartedAt: v.number(),
  updatedAt: v.number(),
  /** Grows with every change; a writer that knows an older one is too late. */
  revision: v.number(),
});

export type TranscriptMark = Readonly<v.InferOutput<typeof transcriptMark>>;
export type SessionLoop = Readonly<v.InferOutput<typeof sessionLoop>>;

export type SessionRead =
  | { readonly kind: 'none' }
  | { readonly kind: 'loop'; readonly state: SessionLoop }
  /** It was no state of this session, and was moved to `path`. */
  | { readonly kind: 'set-aside'; readonly path: string };

export function sessionsFolder(env: Environment): string {
  return join(stateFolder(env), 'sessions');
}

/** Where the loop of a session is while it is not ended. Two ids never share a file. */
export function sessionPaths(env: Environment, sessionId: string) {
  const plain = /^[\w-]+$/.test(sessionId);
  const name = plain ? sessionId : Array.from(new TextEncoder().encode(sessionId), safeByte).join('');
  const file = join(sessionsFolder(env), `${name.length <= 180 ? name : shortened(name)}.json`);
  return { file, lock: `${file}.lock`, journal: file.replace(/json$/, 'ndjson') };
}

/** Where an ended loop is kept. */
export function endedPaths(env: Environment, run: string) {
  const root = join(sessionsFolder(env), 'ended', run);
  return { root, state: join(root, 'state.json'), journal: join(root, 'journal.ndjson') };
}

/** The loop of this session. What is torn or foreign is set aside: it must neither end nor drive a session. */
export function readSessionLoop(env: Environment, sessionId: string): SessionRead {
  const { file } = sessionPaths(env, sessionId);
  const content = readJson(file);
  if (!content.ok && content.reason === 'missing') return { kind: 'none' };
  const { success, output } = v.safeParse(sessionLoop, content.ok ? content.value : null);
  if (success && output.sessionId === sessionId) return { kind: 'loop', state: output };
  const path = setAside(file);
  return path === null ? { kind: 'none' } : { kind: 'set-aside', path };
}

/** Whether a session has a loop that is not ended; cheaper than reading it, and touches nothing. */
export function hasSessionLoop(env: Environment, sessionId: string): boolean {
  return existsSync(sessionPaths(env, sessionId).file);
}

/** Adds events to the journal of a session's loop; false where it has none. */
export function noteInSession(
  env: Environment,
  sessionId: string,
  record: (journal: string, state: SessionLoop) => void,
): boolean {
  const paths = sessionPaths(env, sessionId);
  if (!existsSync(paths.file)) return false;
  return withLock(paths.lock, () => {
    const state = readJsonAs(paths.file, sessionLoop);
    if (state?.sessionId !== sessionId) return false;
    record(paths.journal, state);
    return true;
  });
}

/** Writes a new loop; false when the session has one already. `record` writes its journal. */
export function createSessionLoop(
  env: Environment,
  state: SessionLoop,
  record: (journal: string) => void,
): boolean {
  const paths = sessionPaths(env, state.sessionId);
  ensureDir(sessionsFolder(env));
  return withLock(paths.lock, () => {
    if (readSessionLoop(env, state.sessionId).kind === 'loop') return false;
    keepLostJournal(env, paths.journal);
    record(paths.journal);
    writeState(paths.file, state);
    return true;
  });
}

/** The journal of a loop whose state was set aside is kept with the ended ones. */
function keepLostJournal(env: Environment, journal: string): void {
  const text = existsSync(journal) ? readText(journal) : null;
  if (text === null) return;
  const [, run] = /"run":"([\w-]{1,80})"/.exec(text) ?? [];
  const ended = run === undefined ? null : endedPaths(env, run);
  if (ended === null || existsSync(ended.journal)) {
    removeIfThere(journal);
    return;
  }
  ensureDir(ended.root);
  renameIfThere(journal, ended.journal);
}

/**
 * Compare and set: changes the loop only if nobody changed it since `before` was read. False is too late: somebody
 * cancelled or paused it meanwhile, and then nothing is written. `record` appends to the journal.
 */
export function updateSessionLoop(
  env: Environment,
  before: SessionLoop,
  change: Partial<SessionLoop>,
  record: (journal: string) => void = () => {},
): boolean {
  const paths = sessionPaths(env, before.sessionId);
  return withLock(paths.lock, () => {
    if (!isCurrent(env, before)) return false;
    record(paths.journal);
    writeState(paths.file, { ...before, ...change, revision: before.revision + 1 });
    return true;
  });
}

/** Ends the loop and keeps it with its journal. Compare and set, as `updateSessionLoop` is. */
export function endSessionLoop(
  env: Environment,
  before: SessionLoop,
  change: Partial<SessionLoop>,
  record: (journal: string) => void,
): boolean {
  const paths = sessionPaths(env, before.sessionId);
  const ended = endedPaths(env, before.run);
  return withLock(paths.lock, () => {
    if (!isCurrent(env, before)) return false;
    record(paths.journal);
    ensureDir(ended.root);
    writeState(ended.state, { ...before, ...change, revision: before.revision + 1 });
    removeIfThere(paths.file);
    renameIfThere(paths.journal, ended.journal);
    return true;
  });
}

/** Whether other hooks, which are still installed, drive this loop. Another version of the same hooks may go on with it. */
export function isDrivenElsewhere(state: SessionLoop, driver: string): boolean {
  const anyVersion = (path: string) => path.replace(/[\\/]\d+\.\d+\.\d+[^\\/]*/g, '/*');
  return anyVersion(state.driver) !== anyVersion(driver) && existsSync(state.driver);
}

/** Gives the loop with this transcript to a session that got a new id; null where there is none. */
export function adoptSessionLoop(
  env: Environment,
  sessionId: string,
  transcript: string,
): SessionLoop | null {
  const old = listSessionLoops(env).find((state) => state.transcript.path === transcript);
  if (old === undefined) return null;
  const from = sessionPaths(env, old.sessionId);
  const to = sessionPaths(env, sessionId);
  const adopted = { ...old, sessionId, revision: old.revision + 1 };
  return withLock(from.lock, () => {
    if (!isCurrent(env, old) || readSessionLoop(env, sessionId).kind === 'loop') return null;
    renameIfThere(from.journal, to.journal);
    writeState(to.file, adopted);
    removeIfThere(from.file);
    return adopted;
  });
}

/** All loops that are not ended, of all sessions. */
export function listSessionLoops(env: Environment): SessionLoop[] {
  const folder = sessionsFolder(env);
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readJsonAs(join(folder, name), sessionLoop) ?? []);
}

/** The ended loops. */
export function listEndedLoops(env: Environment): SessionLoop[] {
  const folder = join(sessionsFolder(env), 'ended');
  return namesIn(folder).flatMap((run) => readJsonAs(endedPaths(env, run).state, sessionLoop) ?? []);
}

function isCurrent(env: Environment, before: SessionLoop): boolean {
  const now = readSessionLoop(env, before.sessionId);
  return now.kind === 'loop' && now.state.run === before.run && now.state.revision === before.revision;
}

function writeState(path: string, state: SessionLoop): void {
  writeAtomic(path, `${JSON.stringify(state)}\n`);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function safeByte(byte: number): string {
  const char = String.fromCharCode(byte);
  return /[A-Za-z0-9_-]/.test(char) ? char : `=${byte.toString(16).padStart(2, '0')}`;
}

// File names end at 255 bytes. Two long ids with one name do not meet either: the file holds the whole id.
function shortened(name: string): string {
  let hash = 0x811c9dc5;
  for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return `${name.slice(0, 160)}~${hash.toString(16)}`;
}
