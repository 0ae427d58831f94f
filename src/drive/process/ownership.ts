import { join } from 'node:path';
import { projectPaths, runPaths } from '../../config/paths.ts';
import { RalphError } from '../../core/error.ts';
import { otherExits } from '../../core/outcome.ts';
import { lastEvent, openJournal } from '../../journal/journal.ts';
import { latestRun } from '../../journal/runs.ts';
import type { Clock } from '../../os/clock.ts';
import { appendText } from '../../os/files/append-text.ts';
import { ensureDir, lstatOf, refuseLinkedFolders } from '../../os/files/files.ts';
import { acquireLock, lockOwner, unreadableLock } from '../../os/files/lock.ts';
import { sweepTemporaryFiles } from '../../os/files/temp.ts';
import { sweepRun } from '../../os/process/process.ts';

/** Returns the loop that runs in a working copy, or null. */
export function runningLoop(cwd: string): { run: string; pid: number; since: string } | null {
  const owner = lockOwner(projectPaths(cwd).lock);
  if (owner === null) return null;
  return { run: String(owner.info.run), pid: owner.pid, since: String(owner.info.since) };
}

const ignored = ['.gitignore', 'runs/', '*.log', '*.txt', 'lock*', 'settings.local.json', '*.bad-*', '*.tmp'];

/** Takes the lock of the working copy, since only one loop may run there. First ends what a dead loop left running. */
export async function ownWorkingCopy(cwd: string, root: string | null, run: string, clock: Clock) {
  const paths = projectPaths(cwd);
  const info = { run, since: new Date(clock.now()).toISOString() };
  const { lock, tookOver } = lockFolder(cwd, info);
  const locks = [lock];
  const release = (): void => {
    for (const each of locks) each.release();
  };
  try {
    // A loop in a folder of a repository works on all of it.
    if (root !== null && root !== cwd) locks.unshift(lockFolder(root, info).lock);
    for (const folder of [cwd, root ?? cwd, paths.root, join(cwd, 'ralph')]) sweepTemporaryFiles(folder);
    const suspects = new Set([latestRun(cwd), tookOver?.info.run]);
    const abandoned: string[] = [];
    for (const suspect of suspects) {
      if (typeof suspect === 'string' && (await closeAbandonedRun(cwd, suspect, clock)))
        abandoned.push(suspect);
    }
    return {
      /** Runs before this one whose process died without an end. */
      abandoned,
      /** Puts the lock back if the agent removed it; true when that was needed. */
      restore: () => lock.restore(info),
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

function lockFolder(folder: string, info: { readonly run: string; readonly since: string }) {
  const { root, lock, gitignore } = projectPaths(folder);
  refuseLinkedFolders(lock, folder);
  ensureDir(root, 0o755);
  // First, so that git never sees a file of ours; not by a temporary file, which it would see.
  if (!lstatOf(gitignore)?.size) appendText(gitignore, `${ignored.join('\n')}\n`);
  const result = acquireLock(lock, info);
  if (!result.ok)
    throw unreadableLock(lock, result.owner) ?? alreadyRunning(result.owner.pid, result.owner.info);
  return result;
}

/** Last events of a process that came to its own end. */
const lastOfProcess = new Set<string | undefined>(['run.ended', 'run.yielded', 'run.abandoned']);

/** Closes a run without an end. We hold the lock, so its process has died. One that failed may have left something, too. */
async function closeAbandonedRun(cwd: string, run: string, clock: Clock): Promise<boolean> {
  const path = runPaths(cwd, run).journal;
  const event = lastEvent(path);
  const isOver = lastOfProcess.has(event?.type);
  if (isOver && !(event?.type === 'run.ended' && event.outcome === 'LOOP_FAILED')) return false;
  const swept = await sweepRun(run, { traced: true });
  if (isOver) return false;
  // A run that died before it had a journal needs none. One that died before its first word there gets its end.
  if (lstatOf(path) === null) return false;
  const journal = openJournal(path, () => clock.now());
  journal.append({ type: 'run.abandoned', swept });
  journal.close();
  return true;
}

function alreadyRunning(pid: number, { run, since }: Readonly<Record<string, unknown>>): RalphError {
  return new RalphError(
    'already-running',
    `a loop is already running here: run ${run}, process ${pid}, since ${since}`,
    {
      remedy: 'ralph stop',
      exitCode: otherExits.alreadyRunning.exitCode,
    },
  );
}
