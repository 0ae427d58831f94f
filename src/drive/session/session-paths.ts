import { join } from 'node:path';
import { stateFolder } from '../../config/paths.ts';
import { lstatOf } from '../../os/files/files.ts';
import type { Environment } from '../../os/process/program.ts';

export function sessionsFolder(env: Environment): string {
  return join(stateFolder(env), 'sessions');
}

/** Returns the paths of a loop that is not ended. Two ids never share a file. */
export function sessionPaths(env: Environment, sessionId: string) {
  const plain = /^[\w-]+$/.test(sessionId);
  const name = plain ? sessionId : Array.from(new TextEncoder().encode(sessionId), safeByte).join('');
  const file = join(sessionsFolder(env), `${name.length <= 180 ? name : shortened(name)}.json`);
  return { file, lock: `${file}.lock`, journal: file.replace(/json$/, 'ndjson') };
}

/** Returns the paths of an ended loop. */
export function endedPaths(env: Environment, run: string) {
  const root = join(sessionsFolder(env), 'ended', run);
  return { root, state: join(root, 'state.json'), journal: join(root, 'journal.ndjson') };
}

/** True if a session has a loop that is not ended. Cheaper than reading it, and changes nothing. */
export function hasSessionLoop(env: Environment, sessionId: string): boolean {
  return lstatOf(sessionPaths(env, sessionId).file) !== null;
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
