import { oldTemporaries, removeLock, removeTemporary, staleLocks } from '../store/fleet-leftovers.ts';
import { listLoops, readLoop } from '../store/fleet-loops.ts';
import { defaultSession, workerRunId } from '../store/fleet-paths.ts';
import { readWorkers, updateWorker, type Worker, worktreeOf } from '../store/fleet-workers.ts';
import { abandonedIntents, removeIntent } from '../store/fleet-worktrees.ts';
import { systemClock } from '../system/clock.ts';
import { sweepRun } from '../system/process.ts';
import type { Environment } from '../system/program.ts';
import { processesByRun } from '../system/run-ids.ts';
import { tmuxServer } from '../system/tmux.ts';
import { stopLoop } from './control.ts';
import { holdWorker } from './hold.ts';
import { type Live, lookAtWorkers } from './live.ts';
import { readMark } from './runner.ts';
import { supervisorPid } from './supervisor-start.ts';
import { needsDriving } from './what-next.ts';
import { restoreWorktree, undoWorktree, worktreeExists } from './worktrees.ts';

/** Something that is not as it should be. */
export type Finding = {
  readonly text: string;
  /** The worker that it is about. */
  readonly name?: string;
  /** What putting it right means, in words that follow "would". */
  readonly remedy: string;
  /** False where it could not be done. */
  readonly fix: () => Promise<boolean> | boolean;
};

export type DoctorContext = {
  readonly env: Environment;
  readonly now: number;
  startSupervisor(): Promise<void>;
};

/** A command that is under way looks for a moment like something that was left behind. */
const secondLookMs = 300;

/** Looks for whatever a crash, a reboot or a person may have left behind, twice. Changes nothing by itself. */
export async function examine(context: DoctorContext): Promise<Finding[]> {
  const first = await look(context);
  if (first.length === 0) return first;
  await systemClock.sleep(secondLookMs);
  const second = new Set((await look(context)).map(({ text }) => text));
  return first.filter(({ text }) => second.has(text));
}

/** Puts one thing right, unless that has happened meanwhile; no command changes the worker at the same time. */
export async function repair(context: DoctorContext, { name, text, fix }: Finding): Promise<boolean> {
  if (name === undefined) return fix();
  return holdWorker(context.env, name, async () => {
    const again = (await look(context)).find((finding) => finding.text === text);
    return again === undefined || again.fix();
  });
}

async function look(context: DoctorContext): Promise<Finding[]> {
  const { env } = context;
  const { workers } = readWorkers(env);
  const lives = await lookAtWorkers(env, workers);
  const found = await Promise.all([
    unfinishedWorktrees(env, workers),
    missingWorktrees(workers),
    orphanWindows(env, workers),
    orphanProcesses(env, lives),
    deadWorkers(env, lives),
    loopsWithoutWorker(context, workers),
    loopsWithoutSupervisor(context, workers),
    leftFiles(context),
  ]);
  return found.flat();
}

function unfinishedWorktrees(env: Environment, workers: readonly Worker[]): Finding[] {
  return abandonedIntents(env).map((intent) => {
    const { name, place } = intent;
    if (workers.some(({ worktree }) => worktree?.path === place.path)) {
      const fix = () => {
        removeIntent(env, intent);
        return true;
      };
      return {
        text: `the note about the worktree of '${name}' is no longer needed`,
        remedy: 'remove it',
        fix,
      };
    }
    return {
      name,
      text: `a spawn of '${name}' was cut off and left a worktree: ${place.path}`,
      remedy: 'remove it, if nobody has worked in it',
      fix: () => undoWorktree(env, intent),
    };
  });
}

async function missingWorktrees(workers: readonly Worker[]): Promise<Finding[]> {
  const found = await Promise.all(
    workers.map(async (worker): Promise<Finding[]> => {
      const { name } = worker;
      const worktree = worktreeOf(worker);
      if (worktree === null || (await worktreeExists(worktree))) return [];
      const text = `the worktree of '${name}' is missing: ${worktree.path}`;
      return [
        {
          name,
          text,
          remedy: `check the branch ${worktree.branch} out there again`,
          fix: () => restoreWorktree(worktree),
        },
      ];
    }),
  );
  return found.flat();
}

/** Windows that carry our mark, of workers that nobody knows. */
async function orphanWindows(env: Environment, workers: readonly Worker[]): Promise<Finding[]> {
  const names = new Set(workers.map(({ name }) => name));
  const sockets = new Set([null, ...workers.map(({ tmux }) => tmux?.socket ?? null)]);
  const found = await Promise.all(
    [...sockets].map(async (socket) => {
      const tmux = tmuxServer(socket, env);
      return (await tmux.panes()).flatMap((pane): Finding[] => {
        const mark = readMark(env, pane.mark);
        if (mark === null || names.has(mark.name)) return [];
        const fix = async () => {
          await sweepRun(workerRunId(env, mark.name));
          await tmux.killWindow(pane.id);
          return true;
        };
        const place = `${pane.session}:${pane.window}`;
        return [
          {
            name: mark.name,
            text: `the window ${place} belongs to '${mark.name}', which is not on the list`,
            remedy: 'close it',
            fix,
          },
        ];
      });
    }),
  );
  return found.flat();
}

/** Processes of workers that nobody knows, or that are over. */
function orphanProcesses(env: Environment, lives: readonly Live[]): Finding[] {
  const running = new Set(lives.filter((live) => live.running).map(({ worker }) => worker.name));
  const prefix = `${defaultSession(env)}/`;
  return [...processesByRun(prefix).keys()].flatMap((id): Finding[] => {
    const name = id.slice(prefix.length);
    if (running.has(name)) return [];
    const fix = async () => {
      await sweepRun(id);
      return !processesByRun(id).has(id);
    };
    return [
      {
        name,
        text: `'${name}' has processes that go on, though the worker does not run`,
        remedy: 'end them',
        fix,
      },
    ];
  });
}

/** On the list as running, with neither a window nor a process. */
function deadWorkers(env: Environment, lives: readonly Live[]): Finding[] {
  return lives.flatMap(({ worker, running, pane }): Finding[] => {
    const { name, status, tmux } = worker;
    if (running || status !== 'running') return [];
    const what =
      tmux === null ? 'its process has ended' : pane === null ? 'its window is gone' : 'its window is dead';
    const fix = () => {
      updateWorker(env, name, { status: 'stopped' });
      return true;
    };
    return [{ name, text: `'${name}' counts as running, but ${what}`, remedy: 'mark it as stopped', fix }];
  });
}

function loopsWithoutWorker({ env, now }: DoctorContext, workers: readonly Worker[]): Finding[] {
  const names = new Set(workers.map(({ name }) => name));
  return listLoops(env).flatMap((name): Finding[] => {
    const loop = names.has(name) ? null : readLoop(env, name);
    if (loop === null || !needsDriving(loop)) return [];
    const fix = () => stopLoop(env, name, now).changed;
    return [
      {
        name,
        text: `the loop '${name}' counts as ${loop.status}, but there is no such worker`,
        remedy: 'mark it as stopped',
        fix,
      },
    ];
  });
}

function loopsWithoutSupervisor(context: DoctorContext, workers: readonly Worker[]): Finding[] {
  const { env } = context;
  if (supervisorPid(env) !== null) return [];
  const waiting = workers.filter(({ name, metadata }) => {
    const loop = metadata.ralph === true ? readLoop(env, name) : null;
    return loop !== null && needsDriving(loop);
  });
  if (waiting.length === 0) return [];
  const fix = async () => {
    await context.startSupervisor();
    return true;
  };
  const names = waiting.map(({ name }) => name).join(', ');
  return [{ text: `nobody drives the loops: ${names}`, remedy: 'start the supervisor', fix }];
}

function leftFiles({ env, now }: DoctorContext): Finding[] {
  const locks = staleLocks(env).map((path) => ({
    text: `a lock without an owner: ${path}`,
    remedy: 'remove it',
    fix: () => removeLock(path),
  }));
  const temporaries = oldTemporaries(env, now).map((path) => ({
    text: `a file that was never finished: ${path}`,
    remedy: 'remove it',
    fix: () => {
      removeTemporary(path);
      return true;
    },
  }));
  return [...locks, ...temporaries];
}
