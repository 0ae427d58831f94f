import { isAbsolute, resolve } from 'node:path';
import type { Environment } from './model.ts';

/** Where hosts say that the session was started; the agent may have gone elsewhere since. */
export function startFolders({ CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR }: Environment): string[] {
  const named = [CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR];
  return named.flatMap((folder) => (folder !== undefined && isAbsolute(folder) ? [resolve(folder)] : []));
}
