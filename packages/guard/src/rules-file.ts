import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GuardError } from './error.ts';
import { type GuardPolicy, readPolicy } from './policy-schema.ts';
import { isLink } from './real-path.ts';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
const longest = 64 * 1024 * 1024;

/**
 * Returns the rules of the project, `.ralph/guard.json`; null if there is none. A file that cannot be understood is an
 * error, never no rules. A link is not followed, since what it leads to is not protected from the agent.
 */
export function loadPolicy(projectRoot: string): GuardPolicy | null {
  const folder = join(projectRoot, '.ralph');
  const path = join(folder, 'guard.json');
  try {
    if (isLink(folder) || isLink(path)) throw new Error('nothing is read through a symbolic link');
    return readPolicy(JSON.parse(readFile(path)));
  } catch (error) {
    if (isMissing(error)) return null;
    const message = `.ralph/guard.json: ${error instanceof Error ? error.message : String(error)}`;
    throw new GuardError('guard-policy', message, 'guard explain "ls", after the file is mended');
  }
}

function readFile(path: string): string {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > longest) throw new Error('this is no file of less than 64 MB');
    return readFileSync(fd, 'utf8').replace(/^\uFEFF/, '');
  } finally {
    closeSync(fd);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
