import { join } from 'node:path';
import { systemClock } from '../os/clock.ts';
import { lstatOf, removeIfThere } from '../os/files/files.ts';
import { acquireLock, lockOwner } from '../os/files/lock.ts';
import { walkFiles } from '../os/files/walk.ts';
import { sweepRun } from '../os/process/process.ts';
import type { Environment } from '../os/process/program.ts';
import { processesByRun } from '../os/process/run-ids.ts';
import { tmuxServer } from '../os/terminal/tmux.ts';
import { stopLoop } from './control.ts';
import { listLoops, loopOf, readLoop } from './files/loops.ts';
import { fleetPaths, workerRunId } from './files/paths.ts';
import { readWorkers, updateWorker, type Worker, worktreeOf } from './files/workers.ts';
import { holdWorker } from './hold.ts';
import { type Live, lookAtWorkers } from './live.ts';
import { supervisorPid } from './supervisor-start.ts';
import { needsDriving } from './what-next.ts';
import { readOwner } from './worker-window.ts';
import {
  abandonedIntents,
  restoreWorktree,
  undoWorktree,
  type WorktreeIntent,
  worktreeExists,
} from './worktrees.ts';

export type Finding = {
  readonly text: string;
  readonly name?: string;
  /** Repair in words that follow "would". */
  readonly remedy: string;
  /** Repairs it; returns false if that failed. */
  readonly fix: () => unknown;
};

export type DoctorContext = {
  readonly env: Environment;
  readonly now: number;
  startSupervisor(): Promise<void>;
};

/** Pause before the second look: a running command briefly looks like a leftover. */
const secondLookMs = 300;

/** Looks twice for leftovers of a crash, a reboot or a person. Changes nothing. */
export async function examine(context: DoctorContext): Promise<Finding[]> {
  const first = await look(context);
  if (first.length === 0) return first;
  await systemClock.sleep(secondLookMs);
  const second = new Set((await look(context)).map(({ text }) => text));
  return first.filter(({ text }) => second.has(text));
}

/** Repairs one problem, if it is still there, under the lock of its worker. */
export async function repair(context: DoctorContext, { name, text, fix }: Finding): Promise<boolean> {
  if (name === undefined) return (await fix()) !== false;
  return holdWorker(context.env, name, async () => {
    const again = (await look(context)).find((finding) => finding.text === text);
    return (await again?.fix()) !== false;
  });
}

async function look(context: DoctorContext): Promise<Finding[]> {
  const { env } = context;
  const { workers } = readWorkers(env);
  const lives = await lookAtWorkers(env, workers);
  const findings = await Promise.all([
    unfinishedWorktrees(env, workers),
    missingWorktrees(workers),
    orphanWindows(env, workers),
    orphanProcesses(env, lives),
    deadWorkers(env, lives),
    loopsWithoutWorker(context, workers),
    loopsWithoutSupervisor(context, workers),
    leftFiles(context),
  ]);
  return findings.flat();
}

function unfinishedWorktrees(env: Environment, workers: readonly Worker[]): Finding[] {
  const isOwned = ({ place }: WorktreeIntent) =>
    workers.some(({ worktree }) => worktree?.path === place.path);
  const abandoned = abandonedIntents(env).filter((intent) => !isOwned(intent));
  return abandoned.map((intent) => {
    const { name, place } = intent;
    const text = `a spawn of '${name}' was cut off and left a worktree: ${place.path}`;
    const remedy = 'remove it, if nobody has worked in it';
    return { name, text, remedy, fix: () => undoWorktree(env, intent) };
  });
}

async function missingWorktrees(workers: readonly Worker[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const worker of workers) {
    const { name } = worker;
    const worktree = worktreeOf(worker);
    if (worktree === null || (await worktreeExists(worktree))) continue;
    const text = `the worktree of '${name}' is missing: ${worktree.path}`;
    const remedy = `check the branch ${worktree.branch} out there again`;
    findings.push({ name, text, remedy, fix: () => restoreWorktree(worktree) });
  }
  return findings;
}

async function orphanWindows(env: Environment, workers: readonly Worker[]): Promise<Finding[]> {
  const names = new Set(workers.map(({ name }) => name));
  const findings: Finding[] = [];
  for (const socket of new Set([null, ...workers.map(({ tmux }) => tmux?.socket ?? null)])) {
    const tmux = tmuxServer(socket, env);
    for (const pane of await tmux.panes()) {
      const name = readOwner(env, pane.label)?.name;
      if (name === undefined || names.has(name)) continue;
      const text = `the window ${pane.session}:${pane.window} belongs to '${name}', which is not on the list`;
      const fix = async () => {
        await sweepRun(workerRunId(env, name));
        await tmux.killWindow(pane.id);
      };
      findings.push({ name, text, remedy: 'close it', fix });
    }
  }
  return findings;
}

/** Finds processes of workers that are not on the list, or are over. */
function orphanProcesses(env: Environment, lives: readonly Live[]): Finding[] {
  const running = new Set(lives.filter((live) => live.running).map(({ worker }) => worker.name));
  const prefix = workerRunId(env, '');
  const orphans = [...processesByRun(prefix).keys()].filter((id) => !running.has(id.slice(prefix.length)));
  return orphans.map((id) => {
    const name = id.slice(prefix.length);
    const text = `'${name}' has processes that go on, though the worker does not run`;
    const fix = async () => {
      await sweepRun(id);
      return !processesByRun(id).has(id);
    };
    return { name, text, remedy: 'end them', fix };
  });
}

/** Finds workers listed as running that have neither a window nor a process. */
function deadWorkers(env: Environment, lives: readonly Live[]): Finding[] {
  const dead = lives.filter(({ worker, running }) => !running && worker.status === 'running');
  return dead.map(({ worker: { name, tmux }, pane }) => {
    const what =
      tmux === null ? 'its process has ended' : pane === null ? 'its window is gone' : 'its window is dead';
    const text = `'${name}' counts as running, but ${what}`;
    const fix = () => updateWorker(env, name, { status: 'stopped' });
    return { name, text, remedy: 'mark it as stopped', fix };
  });
}

function loopsWithoutWorker({ env, now }: DoctorContext, workers: readonly Worker[]): Finding[] {
  const names = new Set(workers.map(({ name }) => name));
  return listLoops(env).flatMap((name): Finding[] => {
    const loop = names.has(name) ? null : readLoop(env, name);
    if (loop === null || !needsDriving(loop)) return [];
    const text = `the loop '${name}' counts as ${loop.status}, but there is no such worker`;
    return [
      { name, text, remedy: 'mark it as stopped', fix: async () => (await stopLoop(env, name, now)).changed },
    ];
  });
}

function loopsWithoutSupervisor(context: DoctorContext, workers: readonly Worker[]): Finding[] {
  const { env } = context;
  if (supervisorPid(env) !== null) return [];
  const waiting = workers.filter((worker) => needsDriving(loopOf(env, worker)));
  if (waiting.length === 0) return [];
  const text = `nobody drives the loops: ${waiting.map(({ name }) => name).join(', ')}`;
  return [{ text, remedy: 'start the supervisor', fix: () => context.startSupervisor() }];
}

/** Age of a temporary file that no process writes any more. */
const temporaryMs = 60_000;

function leftFiles({ env, now }: DoctorContext): Finding[] {
  const { root } = fleetPaths(env);
  const remedy = 'remove it';
  return [...walkFiles(root, new Set())].flatMap((file): Finding[] => {
    const path = join(root, file);
    if (/\.lock(?:\.takeover)?$/.test(path) && lockOwner(path) === null)
      return [{ text: `a lock without an owner: ${path}`, remedy, fix: () => removeLock(path) }];
    const isOld = now - (lstatOf(path)?.mtimeMs ?? now) > temporaryMs;
    if (!isOld || !/\/\.[^/]+\.tmp$/.test(path)) return [];
    return [{ text: `a file that was never finished: ${path}`, remedy, fix: () => removeIfThere(path) }];
  });
}

/** Removes a stale lock by acquiring and releasing it, so that no live owner loses it. */
function removeLock(path: string): boolean {
  const attempt = acquireLock(path, {});
  if (attempt.ok) attempt.lock.release();
  return attempt.ok;
}
