import { runPaths } from '../../config/paths.ts';
import { listRuns, pickRun } from '../../journal/runs.ts';
import type { Environment } from '../../os/process/program.ts';
import { listEndedLoops, listSessionLoops } from './session-loops.ts';
import { recordPaths } from './session-paths.ts';

/** A loop inside an agent's session; `status` says whether it is over, `updatedAt` when a hook of its session changed it. */
export type SessionRun = ReturnType<typeof listSessionRuns>[number];

/** Lists the loops in sessions that were started in this folder, and the one with this id in any folder; oldest first. */
export function listSessionRuns(env: Environment, cwd: string, id?: string) {
  const endedLoops = listEndedLoops(env).map((state) => ({ ...state, status: 'ended' as const }));
  return [...listSessionLoops(env), ...endedLoops]
    .filter((state) => state.cwd === cwd || state.run === id)
    .map(({ run, status, sessionId, updatedAt }) => {
      const { journal } = recordPaths(env, run);
      return { run, status, journal, sessionId, updatedAt };
    })
    .sort((a, b) => (a.run < b.run ? -1 : 1));
}

/** A run, and the path of its journal. */
export type LocatedRun = {
  readonly run: string;
  readonly journal: string;
  /** Set for a loop inside a session. */
  readonly session: SessionRun | null;
};

/** Lists the runs of this folder and the loops in sessions that were started in it, oldest first. */
export function listLocated(env: Environment, cwd: string, id?: string): LocatedRun[] {
  const runs = listRuns(cwd).map((run) => ({ run, journal: runPaths(cwd, run).journal, session: null }));
  const inSessions = listSessionRuns(env, cwd, id).map((session) => {
    const { run, journal } = session;
    return { run, journal, session };
  });
  return [...runs, ...inSessions].sort((a, b) => (a.run < b.run ? -1 : 1));
}

/** Returns the run of this folder, or the loop in a session, for `latest`, an id, or the beginning of one. */
export function locateRun(env: Environment, cwd: string, name?: string): LocatedRun {
  return pickRun(listLocated(env, cwd, name), name);
}
