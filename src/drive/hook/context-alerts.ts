import { join } from 'node:path';
import { stateFolder } from '../../config/paths.ts';
import { sha256 } from '../../os/crypto.ts';
import { ensureDir, listDir, lstatOf, readJson, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';

const oldMs = 7 * 24 * 3600_000;

/** Returns the threshold of the last alert of a session; 0 if it had none. */
export function lastAlert(env: Environment, sessionId: string): number {
  const content = readJson(alertPath(env, sessionId));
  return content.ok && typeof content.value === 'number' ? content.value : 0;
}

export function keepAlert(env: Environment, sessionId: string, percent: number): void {
  ensureDir(alertsFolder(env));
  writeAtomic(alertPath(env, sessionId), `${percent}\n`, { fsync: false });
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
