import { isAbsolute, resolve } from 'node:path';
import type { Environment } from './model.ts';
import { isInside } from './paths.ts';
import { findUp } from './real-path.ts';

/** Returns the project of a folder, whose rules count there. */
export function projectOf(cwd: string, env: Environment): string {
  return findProject(resolve(cwd), homeOf(env), env);
}

export function homeOf(env: Environment): string {
  return env.HOME || process.getBuiltinModule('node:os').homedir();
}

/**
 * The working copy around the folder where the session was started, if this one is inside: a working copy within the
 * project, where the agent went, is no project of its own. A home that is itself a repository is no project.
 */
function findProject(cwd: string, home: string, env: Environment): string {
  const sessionFolder = startFolders(env).find((folder) => isInside(cwd, folder) && !isInside(home, folder));
  const start = sessionFolder ?? cwd;
  const root = findUp(start, ['.git', '.ralph']);
  return root === null || isInside(home, root) ? start : root;
}

/** Returns the folders where the session started, as hosts say; the agent may have changed folders since. */
function startFolders({ CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR }: Environment): string[] {
  const folders = [CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR];
  return folders.flatMap((folder) => (folder !== undefined && isAbsolute(folder) ? [resolve(folder)] : []));
}
