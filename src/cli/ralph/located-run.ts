import { runningLoop } from '../../drive/process/ownership.ts';
import type { LocatedRun } from '../../drive/session/session-runs.ts';
import { abandoned } from '../../journal/fold-events.ts';
import { type RunRecord, recordOf } from '../../journal/run-record.ts';
import { isOpen } from '../../journal/run-view.ts';
import { latestRun, type RunRead, readRunAt } from '../../journal/runs.ts';

/** True if a run may go on: its process lives, or its session has not ended. */
export function isDriven(cwd: string, { run, session }: LocatedRun): boolean {
  return session === null ? runningLoop(cwd)?.run === run : session.status !== 'ended';
}

/** Reads a run. An open one that nobody drives is abandoned. */
export function readLocated(cwd: string, located: LocatedRun): RunRead {
  const { view, ...others } = readRunAt(located.run, located.journal);
  return { ...others, view: isOpen(view) && !isDriven(cwd, located) ? abandoned(view) : view };
}

export function recordOfLocated(cwd: string, located: LocatedRun): RunRecord {
  const { view } = readLocated(cwd, located);
  if (located.session !== null) return recordOf(view, 'session');
  return recordOf(view, 'run', latestRun(cwd) === located.run);
}
