import { join } from 'node:path';
import * as v from 'valibot';
import { stateFolder } from '../../config/paths.ts';
import { sha256 } from '../../os/crypto.ts';
import { ensureDir, listDir, lstatOf, readJsonAs, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';

const oldMs = 7 * 24 * 3600_000;

const alertSchema = v.object({ transcript: v.string(), bytes: v.number(), percent: v.number() });

/** The transcript of a session, and how many bytes it had. */
type Transcript = { readonly path: string; readonly size: number };

/**
 * Returns the threshold of the last alert of a session; 0 if it had none. Another transcript under the same id, or one
 * that started anew, is another session.
 */
export function lastAlert(env: Environment, sessionId: string, { path, size }: Transcript): number {
  const alert = readJsonAs(alertPath(env, sessionId), alertSchema);
  return alert?.transcript === path && size * 2 >= alert.bytes ? alert.percent : 0;
}

export function keepAlert(
  env: Environment,
  sessionId: string,
  { path, size }: Transcript,
  percent: number,
): void {
  ensureDir(alertsFolder(env));
  const state = { transcript: path, bytes: size, percent };
  writeAtomic(alertPath(env, sessionId), `${JSON.stringify(state)}\n`, { fsync: false });
}

/** Resets the alerts of a starting session, and removes the files of old sessions. */
export function rearmAlerts(env: Environment, sessionId: string, now: number): void {
  removeIfThere(alertPath(env, sessionId));
  const folder = alertsFolder(env);
  for (const name of listDir(folder)) {
    const path = join(folder, name);
    const stat = lstatOf(path);
    if (stat?.isFile() && now - stat.mtimeMs > oldMs) removeIfThere(path);
  }
}

function alertsFolder(env: Environment): string {
  return join(stateFolder(env), 'context');
}

/** Names the file by a hash: ids come from outside. */
function alertPath(env: Environment, sessionId: string): string {
  return join(alertsFolder(env), `${sha256(sessionId).slice(0, 16)}.json`);
}
