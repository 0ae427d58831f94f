import type { Environment } from '../system/program.ts';
import { readJournal } from './journal.ts';
import { type RunRecord, recordOf } from './runs.ts';
import { endedPaths, listEndedLoops, listSessionLoops, sessionPaths } from './session-loops.ts';

/** A loop inside an agent's session; `status` says whether it is over. */
export type SessionRun = {
  readonly run: string;
  readonly status: 'active' | 'paused' | 'ended';
  readonly journal: string;
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
    .map(({ state: { run }, status, journal }) => ({ run, status, journal }))
    .sort((a, b) => (a.run < b.run ? -1 : 1));
}

export function readSessionRun({ run, journal }: SessionRun): RunRecord {
  return recordOf(run, readJournal(journal).events, 'session');
}
