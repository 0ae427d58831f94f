import { RalphError } from '../core/error.ts';
import { startFailures } from '../core/outcome.ts';
import { lastEvent, openJournal } from '../store/journal.ts';
import { projectPaths, runPaths } from '../store/paths.ts';
import { listRuns } from '../store/runs.ts';
import type { Clock } from '../system/clock.ts';
import { ensureDir, readText, writeAtomic } from '../system/files.ts';
import { acquireLock } from '../system/lock.ts';
import { sweepRun } from '../system/process.ts';

export type Ownership = {
  /** The run before this one, if its process died without an end. */
  readonly abandoned: string | null;
  release(): void;
};

const ignored = ['runs/', 'guardrail_*.log', 'lock*', 'settings.local.json'];

/** One loop per working copy. What a dead one left running is ended before anything new starts. */
export async function ownWorkingCopy(cwd: string, run: string, clock: Clock): Promise<Ownership> {
  const paths = projectPaths(cwd);
  ensureDir(paths.root, 0o755);
  const taken = acquireLock(paths.lock, { run, since: new Date(clock.now()).toISOString() });
  if (!taken.ok) throw alreadyRunning(taken.owner.pid, taken.owner.info);
  try {
    if (readText(paths.gitignore) === null) {
      writeAtomic(paths.gitignore, `${ignored.join('\n')}\n`, { mode: 0o644, fsync: false });
    }
    const abandoned = await closeAbandonedRun(cwd, clock);
    return { abandoned, release: () => taken.lock.release() };
  } catch (error) {
    taken.lock.release();
    throw error;
  }
}

/** We hold the lock: a latest run without an end belongs to a process that died. */
async function closeAbandonedRun(cwd: string, clock: Clock): Promise<string | null> {
  const latest = listRuns(cwd).at(-1);
  if (latest === undefined) return null;
  const path = runPaths(cwd, latest).journal;
  const last = lastEvent(path)?.type;
  if (last === 'run.ended' || last === 'run.abandoned') return null;
  const swept = await sweepRun(latest);
  const journal = openJournal(path, () => clock.now());
  journal.append({ type: 'run.abandoned', swept });
  journal.close();
  return latest;
}

function alreadyRunning(pid: number, info: Readonly<Record<string, unknown>>): RalphError {
  const { run, since } = info;
  return new RalphError('already-running', `a loop is already running here: run ${run}, process ${pid}, since ${since}`, {
    remedy: `wait for it, or stop it with: kill -INT ${pid}`,
    exitCode: startFailures.alreadyRunning.exitCode,
  });
}
