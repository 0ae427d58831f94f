import { join } from 'node:path';
import { stateFolder } from '../../config/paths.ts';
import { sha256 } from '../../os/crypto.ts';
import { lstatOf } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';

/** Holds a file per session whose loop is not ended. */
export function sessionsFolder(env: Environment): string {
  return join(stateFolder(env), 'sessions');
}

/** Holds a folder per loop in a session, ended or not. */
export function sessionRunsFolder(env: Environment): string {
  return join(sessionsFolder(env), 'runs');
}

/** Returns the paths of a loop that is not ended. Two ids never share a file. */
export function sessionPaths(env: Environment, sessionId: string) {
  const name = /^[\w-]{1,180}$/.test(sessionId) ? sessionId : `=${sha256(sessionId)}`;
  const file = join(sessionsFolder(env), `${name}.json`);
  return { file, lock: `${file}.lock` };
}

/** Returns the paths of the record of a loop: its journal and, once it is ended, its last state. */
export function recordPaths(env: Environment, run: string) {
  const root = join(sessionRunsFolder(env), run);
  return { root, state: join(root, 'state.json'), journal: join(root, 'journal.ndjson') };
}

/** True if a session has a loop that is not ended. Cheaper than reading it, and changes nothing. */
export function hasSessionLoop(env: Environment, sessionId: string): boolean {
  return lstatOf(sessionPaths(env, sessionId).file) !== null;
}
