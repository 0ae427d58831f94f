import * as fs from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../core/json.ts';
import type { LoopState } from '../core/loop.ts';
import {
  ensureDir,
  errorCode,
  readJson,
  readText,
  removeIfThere,
  setAside,
  writeAtomic,
} from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';
import { stateFolder } from './paths.ts';

const sessionVersion = 1;

/** How far a host's transcript was read. */
export type TranscriptMark = {
  readonly path: string | null;
  readonly offset: number;
  /** The end of the last answer where the transcript did not hold it yet: it belongs to the turn before. */
  readonly unseen: string | null;
};

/** A loop inside an agent's session, as it stands on disk between two hooks. */
export type SessionLoop = {
  readonly v: typeof sessionVersion;
  readonly host: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly run: string;
  readonly command: string;
  readonly status: 'active' | 'paused';
  readonly loop: LoopState;
  readonly verify: readonly string[];
  /** What the user asked for; the plan has 0 where the policy does not reject. */
  readonly minToolCalls: number;
  readonly onPromiseNoWork: 'reject' | 'warn' | 'accept';
  /** The prompt that started it, so that a second event of the same prompt starts nothing. */
  readonly promptId: string | null;
  /** The folder of the hooks that drive it: with two copies installed, only one does. */
  readonly driver: string;
  readonly transcript: TranscriptMark;
  /** When the background tasks that it waits for were first seen, by their ids. */
  readonly waitsFor?: Readonly<Record<string, number>>;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly turnStartedAt: number;
  readonly updatedAt: number;
  /** Grows with every change; a writer that knows an older one is too late. */
  readonly revision: number;
};

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
  const read = readJson(file);
  if (!read.ok && read.reason === 'missing') return { kind: 'none' };
  if (read.ok && isSessionLoop(read.value) && read.value.sessionId === sessionId) {
    return { kind: 'loop', state: read.value };
  }
  const path = setAside(file);
  return path === null ? { kind: 'none' } : { kind: 'set-aside', path };
}

/** Whether a session has a loop that is not ended; cheaper than reading it, and touches nothing. */
export function hasSessionLoop(env: Environment, sessionId: string): boolean {
  return fs.existsSync(sessionPaths(env, sessionId).file);
}

/** Adds events to the journal of a session's loop; false where it has none. */
export function noteInSession(
  env: Environment,
  sessionId: string,
  record: (journal: string, state: SessionLoop) => void,
): boolean {
  const paths = sessionPaths(env, sessionId);
  if (!fs.existsSync(paths.file)) return false;
  return withLock(paths.lock, () => {
    const [state] = readState(paths.file);
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
  const text = fs.existsSync(journal) ? readText(journal) : null;
  if (text === null) return;
  const [, run] = /"run":"([\w-]{1,80})"/.exec(text) ?? [];
  const ended = run === undefined ? null : endedPaths(env, run);
  if (ended === null || fs.existsSync(ended.journal)) {
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
  return anyVersion(state.driver) !== anyVersion(driver) && fs.existsSync(state.driver);
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
    .flatMap((name) => readState(join(folder, name)));
}

/** The ended loops. */
export function listEndedLoops(env: Environment): SessionLoop[] {
  const folder = join(sessionsFolder(env), 'ended');
  return namesIn(folder).flatMap((run) => readState(endedPaths(env, run).state));
}

function isCurrent(env: Environment, before: SessionLoop): boolean {
  const now = readSessionLoop(env, before.sessionId);
  return now.kind === 'loop' && now.state.run === before.run && now.state.revision === before.revision;
}

function writeState(path: string, state: SessionLoop): void {
  writeAtomic(path, `${JSON.stringify(state)}\n`);
}

function readState(path: string): SessionLoop[] {
  const read = readJson(path);
  return read.ok && isSessionLoop(read.value) ? [read.value] : [];
}

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
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

function isSessionLoop(value: unknown): value is SessionLoop {
  if (!isObject(value) || value.v !== sessionVersion) return false;
  const { loop, transcript, verify } = value;
  const texts = [value.host, value.sessionId, value.cwd, value.run, value.command, value.driver];
  const numbers = [value.minToolCalls, value.startedAt, value.turnStartedAt, value.updatedAt, value.revision];
  return (
    texts.every((text) => typeof text === 'string') &&
    numbers.every((number) => typeof number === 'number') &&
    (value.status === 'active' || value.status === 'paused') &&
    Array.isArray(verify) &&
    verify.every((command) => typeof command === 'string') &&
    isObject(transcript) &&
    typeof transcript.offset === 'number' &&
    isLoop(loop)
  );
}

const counters = [
  'iteration',
  'toolCalls',
  'filesChanged',
  'elapsedMs',
  'waitedMs',
  'failures',
  'overloads',
  'withoutProgress',
  'withoutTools',
  'sameError',
];
const limits = ['waitMs', 'failures', 'withoutProgress', 'withoutTools', 'sameError'];
const openLimits = ['iterations', 'wallMs', 'tokens', 'costUsd', 'iterationTokens', 'iterationCostUsd'];

/** All that a decision counts with: a loop that somebody wrote by hand could drive a session for ever. */
function isLoop(value: unknown): boolean {
  if (!isObject(value) || !isObject(value.plan)) return false;
  const { plan, task, feedback, usage } = value;
  const { completion, limits: planned, minToolCalls } = plan;
  return (
    typeof task === 'string' &&
    Array.isArray(feedback) &&
    feedback.every((item) => isObject(item) && typeof item.text === 'string') &&
    isObject(usage) &&
    areNumbers(value, counters) &&
    isObject(completion) &&
    isObject(completion.promise) &&
    typeof completion.promise.token === 'string' &&
    isObject(planned) &&
    areNumbers(planned, limits) &&
    openLimits.every((name) => planned[name] === null || typeof planned[name] === 'number') &&
    (minToolCalls === null || typeof minToolCalls === 'number')
  );
}

function areNumbers(value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'number');
}
