import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { RalphError } from '../../core/error.ts';
import type { EventBody } from '../../journal/events.ts';
import { appendEvents } from '../../journal/journal-append.ts';
import { loopState } from '../../journal/loop-schemas.ts';
import {
  ensureDir,
  listDir,
  lstatOf,
  readJson,
  readJsonAs,
  removeIfThere,
  setAside,
  writeAtomic,
} from '../../os/files/files.ts';
import { withLock } from '../../os/files/lock.ts';
import { fileSize, scanLinesBack } from '../../os/files/scan-lines.ts';
import { sweepTemporaryFiles } from '../../os/files/temp.ts';
import type { Environment } from '../../os/process/program.ts';
import type { SessionContext } from './hook-reply.ts';
import { recordPaths, sessionPaths, sessionRunsFolder, sessionsFolder } from './session-paths.ts';

/** How far a host's transcript was read. */
const transcriptMark = v.object({
  path: v.nullable(v.string()),
  offset: v.number(),
  /** End of the last answer, if the transcript did not have it yet: it belongs to the turn before. */
  unseen: v.nullable(v.string()),
  /** End of the last answer that was judged, by which a stop that is delivered a second time is recognised. */
  judged: v.exactOptional(v.string()),
});

/** A loop in an agent's session, as stored between two hooks. */
const sessionLoop = v.object({
  v: v.literal(1),
  host: v.string(),
  sessionId: v.string(),
  cwd: v.string(),
  run: v.string(),
  command: v.string(),
  status: v.picklist(['active', 'paused']),
  /** Requires a marker: without one no claim could end the loop. */
  loop: v.pipe(
    loopState,
    v.check(({ plan }) => plan.completion.promise !== undefined),
  ),
  /** File with the whole task, if it is too long for a message. */
  taskFile: v.exactOptional(v.string()),
  verify: v.pipe(v.array(v.string()), v.readonly()),
  /** Value of the user's option; the plan has 0 unless the policy is `reject`. */
  minToolCalls: v.number(),
  onPromiseNoWork: v.picklist(['reject', 'warn', 'accept']),
  /** The prompt that started it, so that a second event of the same prompt starts nothing. */
  promptId: v.nullable(v.string()),
  /** The folder of the hooks that drive it: with two copies installed, only one does. */
  driver: v.string(),
  transcript: transcriptMark,
  /** Time at which each background task that it waits for was first seen, by id. */
  waitsFor: v.exactOptional(v.record(v.string(), v.number())),
  /** Bytes of the journal. More of them come from a hook that was ended before it could write this state. */
  journalSize: v.exactOptional(v.number()),
  /** Epoch milliseconds. */
  startedAt: v.number(),
  turnStartedAt: v.number(),
  updatedAt: v.number(),
  /** Grows with every change, for compare and set. */
  revision: v.number(),
});

export type TranscriptMark = Readonly<v.InferOutput<typeof transcriptMark>>;
export type SessionLoop = Readonly<v.InferOutput<typeof sessionLoop>>;

type SessionRead =
  | { readonly kind: 'none' }
  | { readonly kind: 'loop'; readonly state: SessionLoop }
  /** It was no state of this session, and was moved to `path`. */
  | { readonly kind: 'set-aside'; readonly path: string };

type World = Pick<SessionContext, 'env' | 'now'>;

/** Reads the loop of this session. Sets a torn or foreign file aside: it must neither end nor drive a session. */
export function readSessionLoop(env: Environment, sessionId: string): SessionRead {
  const { file } = sessionPaths(env, sessionId);
  const content = readJson(file);
  if (!content.ok && content.reason === 'missing') return { kind: 'none' };
  // A good file that cannot be read just now stays: the loop goes on at the next stop.
  if (!content.ok && content.reason === 'unreadable' && lstatOf(file)?.isFile())
    throw new RalphError('state-unreadable', content.message);
  const { success, output } = v.safeParse(sessionLoop, content.ok ? content.value : null);
  if (success && output.sessionId === sessionId) return { kind: 'loop', state: output };
  const path = setAside(file);
  return path === null ? { kind: 'none' } : { kind: 'set-aside', path };
}

/** Returns the loop of this session; null if it has none, or one that cannot be read. */
export function openLoop(env: Environment, sessionId: string): SessionLoop | null {
  const file = readSessionLoop(env, sessionId);
  return file.kind === 'loop' ? file.state : null;
}

/** Appends the events that `eventsOf` returns to the journal of a session's loop; false if it has none. */
export function noteInSession(
  world: World,
  sessionId: string,
  eventsOf: (state: SessionLoop) => readonly EventBody[],
): boolean {
  const { file, lock } = sessionPaths(world.env, sessionId);
  if (lstatOf(file) === null) return false;
  return withLock(lock, () => {
    const state = openLoop(world.env, sessionId);
    if (state !== null) appendToRecord(world, state, eventsOf(state));
    return state !== null;
  });
}

/** Writes a loop that is new or goes on after its end, and its next events; false if the session has one already. */
export function openSessionLoop(world: World, state: SessionLoop, events: readonly EventBody[]): boolean {
  const { env } = world;
  const { file, lock } = sessionPaths(env, state.sessionId);
  ensureDir(sessionsFolder(env));
  return withLock(lock, () => {
    if (openLoop(env, state.sessionId) !== null) return false;
    const journalSize = appendToRecord(world, state, events);
    if (state.taskFile !== undefined) writeAtomic(state.taskFile, state.loop.task);
    writeState(file, { ...state, journalSize });
    removeIfThere(recordPaths(env, state.run).state);
    return true;
  });
}

/** Compare and set: changes the loop. False, with nothing written, if somebody changed it since `before` was read. */
export function updateSessionLoop(
  world: World,
  before: SessionLoop,
  change: Partial<SessionLoop>,
  events: readonly EventBody[] = [],
): boolean {
  return whileCurrent(world.env, before, ({ file }) => {
    const journalSize = appendToRecord(world, before, events);
    writeState(file, { ...before, ...change, journalSize, revision: before.revision + 1 });
  });
}

/** Ends the loop, and moves its state to its journal. Compare and set, as `updateSessionLoop` is. */
export function endSessionLoop(
  world: World,
  before: SessionLoop,
  change: Partial<SessionLoop>,
  events: readonly EventBody[],
): boolean {
  return whileCurrent(world.env, before, ({ file }) => {
    appendToRecord(world, before, events);
    const { state } = recordPaths(world.env, before.run);
    writeState(state, { ...before, ...change, revision: before.revision + 1 });
    removeIfThere(file);
    sweepTemporaryFiles(dirname(file));
  });
}

/** Moves the loop with this transcript to a session that got a new id; null if there is none. */
export function adoptSessionLoop(
  env: Environment,
  sessionId: string,
  transcript: string,
): SessionLoop | null {
  const old = listSessionLoops(env).find((state) => state.transcript.path === transcript);
  if (old === undefined) return null;
  const next = { ...old, sessionId, revision: old.revision + 1 };
  const isMoved = whileCurrent(env, old, ({ file }) => {
    writeState(sessionPaths(env, sessionId).file, next);
    removeIfThere(file);
  });
  return isMoved ? next : null;
}

/** Runs a change under the lock of the loop; false if somebody changed it since `before` was read. */
function whileCurrent(
  env: Environment,
  before: SessionLoop,
  change: (paths: ReturnType<typeof sessionPaths>) => void,
): boolean {
  const paths = sessionPaths(env, before.sessionId);
  return withLock(paths.lock, () => {
    const now = openLoop(env, before.sessionId);
    if (now?.run !== before.run || now.revision !== before.revision) return false;
    change(paths);
    return true;
  });
}

/**
 * Appends to the journal of a loop and returns its size. Somebody may have removed its folder: the count of the loop must
 * not depend on it.
 */
function appendToRecord({ env, now }: World, state: SessionLoop, events: readonly EventBody[]): number {
  const { root, journal } = recordPaths(env, state.run);
  const isWritten = events.some(({ type }) => type === 'decision') && hasDecision(journal, state.journalSize);
  if (events.length > 0 && !isWritten) {
    ensureDir(root);
    appendEvents(journal, events, now);
  }
  return fileSize(journal) ?? 0;
}

/** True if a hook wrote its decision to the journal and was ended before it could write the state. */
function hasDecision(journal: string, since: number | undefined): boolean {
  if (since === undefined || (fileSize(journal) ?? 0) <= since) return false;
  let isThere = false;
  const visit = (line: string) => {
    isThere ||= line.includes('"type":"decision"');
    return !isThere;
  };
  scanLinesBack(journal, since, { wants: () => true, visit });
  return isThere;
}

/** True if other hooks that are still installed drive this loop. Another version of the same hooks may continue it. */
export function isDrivenElsewhere(state: SessionLoop, driver: string): boolean {
  const anyVersion = (path: string) => path.replace(/[\\/]\d+\.\d+\.\d+[^\\/]*/g, '/*');
  return anyVersion(state.driver) !== anyVersion(driver) && lstatOf(state.driver) !== null;
}

/** Lists the loops of all sessions that are not ended. */
export function listSessionLoops(env: Environment): SessionLoop[] {
  const folder = sessionsFolder(env);
  return listDir(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readJsonAs(join(folder, name), sessionLoop) ?? []);
}

export function listEndedLoops(env: Environment): SessionLoop[] {
  return listDir(sessionRunsFolder(env)).flatMap(
    (run) => readJsonAs(recordPaths(env, run).state, sessionLoop) ?? [],
  );
}

export function lastEnded(env: Environment, sessionId: string): SessionLoop | undefined {
  const ended = listEndedLoops(env).filter((state) => state.sessionId === sessionId);
  return ended.sort((a, b) => a.updatedAt - b.updatedAt).at(-1);
}

function writeState(path: string, state: SessionLoop): void {
  writeAtomic(path, `${JSON.stringify(state)}\n`);
}
