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
  { resumed, protectChecks = false }: { readonly resumed: boolean; readonly protectChecks?: boolean },
): WatchedFiles {
  const { root } = recordPaths(env, run);
  return watchFiles(
    { cwd, env: userEnvironment(env), commands: verify, protectedPaths: [], protectChecks },
    { file: join(root, 'check-files.json'), root, resumed },
  );
}
