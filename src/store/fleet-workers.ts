import { renameSync } from 'node:fs';
import { RalphError } from '../core/error.ts';
import { isObject } from '../core/json.ts';
import { ensureDir, lstatOf, readJson, writeAtomic } from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';
import { fleetPaths } from './fleet-paths.ts';

export type TmuxPlace = { readonly session: string; readonly window: string; readonly socket: string | null };
export type WorktreePlace = {
  readonly path: string;
  readonly branch: string;
  readonly base_repo: string;
  /** Its folder was removed on purpose; a respawn makes it again. */
  readonly removed?: true;
};

/** A worker as it stands in `state.json`; the names are the contract of that file. */
export type Worker = {
  readonly name: string;
  readonly status: 'running' | 'stopped';
  readonly cmd: readonly string[];
  readonly started: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly tmux: TmuxPlace | null;
  readonly worktree: WorktreePlace | null;
  readonly pid: number | null;
  readonly metadata: WorkerMetadata;
};

export type WorkerMetadata = {
  readonly ralph?: boolean;
  readonly ralph_iteration?: number;
  readonly [other: string]: unknown;
};

/** A worker that runs as a loop: it always has a window. */
export type LoopWorker = Worker & { readonly tmux: TmuxPlace };

export type WorkersRead = { readonly workers: readonly Worker[]; readonly warning: string | null };

/** All workers. A file that is no JSON is set aside, with a warning; one with a foreign shape is an error. */
export function readWorkers(env: Environment): WorkersRead {
  const { state } = fleetPaths(env);
  const read = readJson(state);
  if (read.ok) return { workers: workersIn(read.value, state), warning: null };
  if (read.reason === 'missing') return { workers: [], warning: null };
  if (read.reason === 'unreadable') throw new RalphError('fleet-state', read.message, { exitCode: 1 });
  const aside = asideName(state);
  try {
    renameSync(state, aside);
  } catch {
    // Somebody else has set it aside already.
  }
  return { workers: [], warning: `corrupt state file: it was moved to ${aside}, and the list is empty now` };
}

/** `.corrupted`, and a number where there is one already: the older may be the better. */
function asideName(state: string): string {
  for (let n = 1; ; n++) {
    const name = `${state}.corrupted${n === 1 ? '' : `-${n}`}`;
    if (lstatOf(name) === null) return name;
  }
}

/** Changes the list as nobody else does at the same time. `change` gets the newest list and returns the next one. */
export function updateWorkers(
  env: Environment,
  change: (workers: readonly Worker[]) => readonly Worker[],
): readonly Worker[] {
  const paths = fleetPaths(env);
  ensureDir(paths.root);
  return withLock(paths.lock, () => {
    const { workers } = readWorkers(env);
    const next = change(workers);
    if (next !== workers) writeAtomic(paths.state, `${JSON.stringify({ workers: next }, null, 2)}\n`);
    return next;
  });
}

/** Adds a worker; false when the name is taken. */
export function addWorker(env: Environment, worker: Worker): boolean {
  let added = false;
  updateWorkers(env, (workers) => {
    if (workers.some(({ name }) => name === worker.name)) return workers;
    added = true;
    return [...workers, worker];
  });
  return added;
}

/** Changes one worker, if it is there. */
export function updateWorker(env: Environment, name: string, change: Partial<Worker>): void {
  updateWorkers(env, (workers) =>
    workers.map((worker) => (worker.name === name ? { ...worker, ...change } : worker)),
  );
}

export function removeWorker(env: Environment, name: string): void {
  updateWorkers(env, (workers) => workers.filter((worker) => worker.name !== name));
}

/** The worktree that a worker has now. */
export function worktreeOf({ worktree }: Worker): WorktreePlace | null {
  return worktree?.removed ? null : worktree;
}

export function findWorker(env: Environment, name: string): Worker | null {
  return readWorkers(env).workers.find((worker) => worker.name === name) ?? null;
}

function workersIn(value: unknown, path: string): Worker[] {
  const list = isObject(value) ? value.workers : undefined;
  if (!Array.isArray(list)) throw foreign(path, 'it has no list of workers');
  return list.map((entry: unknown, index) => {
    const worker = readWorker(entry);
    if (worker === null) throw foreign(path, `worker ${index + 1} in it lacks a name, a status or a command`);
    return worker;
  });
}

/** A record that an older version or a person wrote may lack the rest. */
function readWorker(value: unknown): Worker | null {
  if (!isObject(value)) return null;
  const { name, status, cmd, started, cwd } = value;
  if (typeof name !== 'string' || (status !== 'running' && status !== 'stopped')) return null;
  if (!Array.isArray(cmd) || typeof started !== 'string' || typeof cwd !== 'string') return null;
  const known = value as Partial<Worker>;
  return {
    name,
    status,
    cmd,
    started,
    cwd,
    env: known.env ?? {},
    tags: known.tags ?? [],
    tmux: known.tmux ? { ...known.tmux, socket: known.tmux.socket ?? null } : null,
    worktree: known.worktree ?? null,
    pid: known.pid ?? null,
    metadata: known.metadata ?? {},
  };
}

function foreign(path: string, why: string): RalphError {
  return new RalphError('fleet-state', `${path} is not a list of workers: ${why}`, {
    remedy: `move it away: mv '${path}' '${path}.old'`,
    exitCode: 1,
  });
}
