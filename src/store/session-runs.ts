import type { Environment } from '../system/program.ts';
import { runPaths } from './paths.ts';
import { listRuns, pickRun } from './runs.ts';
import { endedPaths, listEndedLoops, listSessionLoops, sessionPaths } from './session-loops.ts';

/** A loop inside an agent's session; `status` says whether it is over. */
export type SessionRun = {
  readonly run: string;
  readonly status: 'active' | 'paused' | 'ended';
  readonly journal: string;
  readonly sessionId: string;
  /** When a hook of its session last changed it, in epoch milliseconds. */
  readonly updatedAt: number;
};

/** The loops inside sessions that were started in this folder, and the one with this id wherever it was; oldest first. */
export function listSessionRuns(env: Environment, cwd: string, id?: string): SessionRun[] {
  const going = listSessionLoops(env).map((state) => ({
    state,
    status: state.status,
    journal: sessionPaths(env, state.sessionId).journal,
  }));
  const ended = listEndedLoops(env).map((state) => ({
    state,
    status: 'ended' as const,
    journal: endedPaths(env, state.run).journal,
  }));
  return [...going, ...ended]
    .filter(({ state }) => state.cwd === cwd || state.run === id)
    .map(({ state: { run, sessionId, updatedAt }, status, journal }) => ({
      run,
      status,
      journal,
      sessionId,
      updatedAt,
    }))
    .sort((a, b) => (a.run < b.run ? -1 : 1));
}

/** A run that a person means, and where its journal is. */
export type LocatedRun = {
  readonly run: string;
  readonly journal: string;
  /** Set for a loop inside a session. */
  readonly session: SessionRun | null;
};

/** The runs of this folder and the loops inside sessions that were started in it, oldest first. */
export function listLocated(env: Environment, cwd: string, id?: string): LocatedRun[] {
  const own = listRuns(cwd).map((run) => ({ run, journal: runPaths(cwd, run).journal, session: null }));
  const inSessions = listSessionRuns(env, cwd, id).map((session) => {
    const { run, journal } = session;
    return { run, journal, session };
  });
  return [...own, ...inSessions].sort((a, b) => (a.run < b.run ? -1 : 1));
}

/** The run of this folder, or the loop inside a session, that is meant by `latest`, an id, or the beginning of one. */
export function locateRun(env: Environment, cwd: string, wanted?: string): LocatedRun {
  return pickRun(listLocated(env, cwd, wanted), wanted);
}
