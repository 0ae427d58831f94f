import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensureDir, readJson, removeIfThere, writeAtomic } from '../system/files.ts';
import { stateFolder } from './paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const oldMs = 7 * 24 * 3600_000;

/** The thresholds that a session was told of already. */
export function firedAlerts(env: Environment, sessionId: string): number[] {
  const read = readJson(alertsPath(env, sessionId));
  return read.ok && Array.isArray(read.value) ? read.value.filter((each) => typeof each === 'number') : [];
}

export function keepAlerts(env: Environment, sessionId: string, fired: readonly number[]): void {
  ensureDir(alertsFolder(env));
  writeAtomic(alertsPath(env, sessionId), `${JSON.stringify(fired)}\n`, { fsync: false });
}

/** The sizes of its transcript between which a session needs no look with this window; the shell that starts the hook reads them. */
export function keepNextLook(
  env: Environment,
  sessionId: string,
  { from, to, window }: { readonly from: number; readonly to: number; readonly window: number },
): void {
  const path = nextLookPath(env, sessionId);
  if (path === null) return;
  ensureDir(alertsFolder(env));
  writeAtomic(path, `${from} ${to} ${window}\n`, { fsync: false });
}

/** A session that starts is told of every threshold again. What sessions of long ago left is cleared away. */
export function rearmAlerts(env: Environment, sessionId: string, now: number): void {
  removeIfThere(alertsPath(env, sessionId));
  const nextLook = nextLookPath(env, sessionId);
  if (nextLook !== null) removeIfThere(nextLook);
  const folder = alertsFolder(env);
  if (!fs.existsSync(folder)) return;
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name);
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() && now - stat.mtimeMs > oldMs) removeIfThere(path);
  }
}

function alertsFolder(env: Environment): string {
  return join(stateFolder(env), 'context');
}

/** Ids come from outside: a name made of their hash is a safe one. */
function alertsPath(env: Environment, sessionId: string): string {
  return join(alertsFolder(env), `${createHash('sha256').update(sessionId).digest('hex').slice(0, 16)}.json`);
}

/** A shell knows no hashes: only plain ids have this file. */
function nextLookPath(env: Environment, sessionId: string): string | null {
  return /^[\w-]{1,180}$/.test(sessionId) ? join(alertsFolder(env), `${sessionId}.next`) : null;
}
