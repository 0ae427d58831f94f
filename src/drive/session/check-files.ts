import { join } from 'node:path';
import { type WatchedFiles, watchFiles } from '../process/watched-files.ts';
import type { SessionContext } from './hook-reply.ts';
import type { SessionLoop } from './session-loops.ts';
import { recordPaths } from './session-paths.ts';
import { userEnvironment } from './user-environment.ts';

/** Records the files that define the verify commands of a loop that starts, or reads that record. */
export function watchCheckFiles(
  { cwd, run, verify }: SessionLoop,
  { env }: Pick<SessionContext, 'env'>,
  resumed: boolean,
): WatchedFiles {
  const { root: folder } = recordPaths(env, run);
  const record = { folder, file: join(folder, 'check-files.json'), root: folder, resumed };
  const watch = {
    cwd,
    env: userEnvironment(env),
    commands: verify,
    protectedPaths: [],
    protectChecks: false,
  };
  return watchFiles(watch, record);
}
