import { isQuestionOpen } from '../../drive/human.ts';
import { runningLoop } from '../../drive/process/ownership.ts';
import type { LocatedRun } from '../../drive/session/session-runs.ts';
import { abandoned } from '../../journal/fold-events.ts';
import { type RunRecord, recordOf } from '../../journal/run-record.ts';
import { isOpen } from '../../journal/run-view.ts';
import { latestRun, type RunRead, readRunAt } from '../../journal/runs.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import { formatTime } from '../../show/terminal/units.ts';
import type { Context } from '../kernel/spec.ts';

/** True if a run may go on: its process lives, or its session has not ended. */
export function isDriven(cwd: string, { run, session }: LocatedRun): boolean {
  return session === null ? runningLoop(cwd)?.run === run : session.status !== 'ended';
}

/** Reads a run. An open one that nobody drives is abandoned. */
export function readLocated(cwd: string, located: LocatedRun): RunRead {
  const { view, ...others } = readRunAt(located.run, located.journal);
  return { ...others, view: isOpen(view) && !isDriven(cwd, located) ? abandoned(view) : view };
}

export function recordOfLocated({ cwd, env }: Pick<Context, 'cwd' | 'env'>, located: LocatedRun): RunRecord {
  const { view } = readLocated(cwd, located);
  if (located.session !== null) return recordOf(view, 'session');
  const isLatest = latestRun(cwd) === located.run;
  const asks = isLatest && isQuestionOpen(env, cwd);
  return recordOf(view, 'run', { asks, isLatest }, systemClock.now());
}

/** Says what a live run does now, and until when it waits; empty for any other. */
export function nowText({ doing, waitUntil }: RunRecord): string {
  const until = waitUntil === null ? '' : `waits until ${formatTime(waitUntil)}: `;
  return doing === null ? '' : cleanTerminal(`${until}${doing}`);
}
