import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { sha256 } from '../system/crypto.ts';
import { ensureDir, readJsonAs, removeIfThere, writeAtomic } from '../system/files.ts';
import { stateFolder } from './paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const oldMs = 7 * 24 * 3600_000;

const alertsSchema = v.object({ transcript: v.string(), bytes: v.number(), fired: v.array(v.number()) });

/** The transcript of a session, and how many bytes it had. */
export type Transcript = { readonly path: string; readonly size: number };

/**
 * The thresholds that a session was told of already. Another transcript under the same id, or one that was begun anew, is
 * another session.
 */
export function firedAlerts(env: Environment, sessionId: string, { path, size }: Transcript): number[] {
  const alerts = readJsonAs(alertsPath(env, sessionId), alertsSchema);
  return alerts?.transcript === path && size * 2 >= alerts.bytes ? alerts.fired : [];
}

export function keepAlerts(
  env: Environment,
  sessionId: string,
  { path, size }: Transcript,
  fired: readonly number[],
): void {
  ensureDir(alertsFolder(env));
  const state = { transcript: path, bytes: size, fired };
  writeAtomic(alertsPath(env, sessionId), `${JSON.stringify(state)}\n`, { fsync: false });
}

/** Forgets what a starting session was told, and clears away the records of sessions of long ago. */
export function rearmAlerts(env: Environment, sessionId: string, now: number): void {
  removeIfThere(alertsPath(env, sessionId));
  const folder = alertsFolder(env);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() && now - stat.mtimeMs > oldMs) removeIfThere(path);
  }
}

function alertsFolder(env: Environment): string {
  return join(stateFolder(env), 'context');
}

/** Ids come from outside: a name made of their hash is a safe one. */
function alertsPath(env: Environment, sessionId: string): string {
  return join(alertsFolder(env), `${sha256(sessionId).slice(0, 16)}.json`);
}
