import { runningLoop } from '../loop/ownership.ts';
import { type LoopRecord, readLoop } from '../store/fleet-loops.ts';
import { readWorkers, type Worker } from '../store/fleet-workers.ts';
import { isPaused } from '../store/mailbox.ts';
import { runPaths } from '../store/paths.ts';
import { listRuns } from '../store/runs.ts';
import { listSessionRuns } from '../store/session-runs.ts';
import type { Environment } from '../system/program.ts';
import type { LoopSummary } from './summary.ts';

/** Where the dashboard finds a loop. */
export type LoopSource = Pick<LoopSummary, 'id' | 'kind' | 'name' | 'folder' | 'hasTerminal'> & {
  /** The name of the run; a worker that only drives a terminal has none. */
  readonly run: string | null;
  readonly journal: string | null;
  readonly life: 'alive' | 'paused' | 'dead';
  readonly worker: { readonly worker: Worker; readonly loop: LoopRecord | null } | null;
};

const shownRuns = 200;

/** The runs of this folder, the loops in sessions, and the workers of the fleet. */
export function listSources(env: Environment, cwd: string): LoopSource[] {
  return [...runsIn(env, cwd), ...sessionsOf(env, cwd), ...workersOf(env)];
}

function runsIn(env: Environment, folder: string): LoopSource[] {
  const running = runningLoop(folder)?.run ?? null;
  return listRuns(folder)
    .slice(-shownRuns)
    .map((run) => ({
      id: run,
      kind: 'run',
      name: run,
      folder,
      hasTerminal: false,
      run,
      journal: runPaths(folder, run).journal,
      life: run !== running ? 'dead' : isPaused(env, run) ? 'paused' : 'alive',
      worker: null,
    }));
}

function sessionsOf(env: Environment, folder: string): LoopSource[] {
  const lives = { active: 'alive', paused: 'paused', ended: 'dead' } as const;
  return listSessionRuns(env, folder)
    .slice(-shownRuns)
    .map(({ run, status, journal }) => ({
      id: run,
      kind: 'session',
      name: run,
      folder,
      hasTerminal: false,
      run,
      journal,
      life: lives[status],
      worker: null,
    }));
}

/** A worker whose state cannot be read must not hide the loops that can. */
function workersOf(env: Environment): LoopSource[] {
  try {
    return readWorkers(env).workers.map((worker) => sourceOf(env, worker));
  } catch {
    return [];
  }
}

function sourceOf(env: Environment, worker: Worker): LoopSource {
  const loop = readLoop(env, worker.name);
  const own = loop?.options.run === undefined ? undefined : listRuns(worker.cwd).at(-1);
  const live = loop?.status === 'running' || (loop === null && worker.status === 'running');
  return {
    id: `worker:${worker.name}`,
    kind: 'worker',
    name: worker.name,
    folder: worker.cwd,
    hasTerminal: worker.tmux !== null,
    run: own ?? null,
    journal: own === undefined ? null : runPaths(worker.cwd, own).journal,
    life: loop?.status === 'paused' ? 'paused' : live ? 'alive' : 'dead',
    worker: { worker, loop },
  };
}
