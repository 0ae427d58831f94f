import * as v from 'valibot';
import { RalphError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import { ensureDir, lstatOf, readJson, renameIfThere, writeAtomic } from '../../os/files/files.ts';
import { withLock } from '../../os/files/lock.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths } from './paths.ts';

export const worktreePlace = v.object({
  path: v.string(),
  branch: v.string(),
  base_repo: v.string(),
  /** True if its folder was removed on purpose; a respawn makes it again. */
  removed: v.exactOptional(v.literal(true)),
});
export type WorktreePlace = Readonly<v.InferOutput<typeof worktreePlace>>;
export type TmuxPlace = { readonly session: string; readonly window: string; readonly socket: string | null };

/** A worker in `state.json`; the names are the contract of that file. */
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
  /** `ralph` is true of a worker with a loop. */
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** A worker with a window, as every loop has one. */
export type LoopWorker = Worker & { readonly tmux: TmuxPlace };

export type WorkersRead = { readonly workers: readonly Worker[]; readonly warning: string | null };

/** Reads all workers. Sets a file that is no JSON aside, with a warning; throws if it has a foreign shape. */
export function readWorkers(env: Environment): WorkersRead {
  const { state } = fleetPaths(env);
  const file = readJson(state);
  if (file.ok) return { workers: workersIn(file.value, state), warning: null };
  if (file.reason === 'missing') return { workers: [], warning: null };
  if (file.reason === 'unreadable') throw new RalphError('fleet-state', file.message, { exitCode: 1 });
  const aside = asideName(state);
  renameIfThere(state, aside);
  return { workers: [], warning: `corrupt state file: it was moved to ${aside}, and the list is empty now` };
}

/** Returns a free name: `.corrupted`, with a number if there is one already. */
function asideName(state: string): string {
  for (let n = 1; ; n++) {
    const name = `${state}.corrupted${n === 1 ? '' : `-${n}`}`;
    if (lstatOf(name) === null) return name;
  }
}

/** Changes the list under its lock. `change` gets the newest list and returns the next one. */
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

/** Adds a worker. The caller holds its lock, and knows that its name is free. */
export function addWorker(env: Environment, worker: Worker): void {
  updateWorkers(env, (workers) => [...workers, worker]);
}

export function updateWorker(env: Environment, name: string, change: Partial<Worker>): void {
  updateWorkers(env, (workers) =>
    workers.map((worker) => (worker.name === name ? { ...worker, ...change } : worker)),
  );
}

export function removeWorker(env: Environment, name: string): void {
  updateWorkers(env, (workers) => workers.filter((worker) => worker.name !== name));
}

/** Returns the worktree of a worker; null if it has none or it was removed. */
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
    if (worker === null) throw foreign(path, `worker ${index + 1} in it lacks a field, or has a wrong one`);
    return worker;
  });
}

/** Checks by hand: a schema costs `swarm ls` 10 ms for 1,000 workers. Older records lack fields with a default. */
function readWorker(value: unknown): Worker | null {
  if (!isObject(value)) return null;
  const { name, status, cmd, started, cwd } = value;
  if (typeof name !== 'string' || (status !== 'running' && status !== 'stopped')) return null;
  if (!isTexts(cmd) || typeof started !== 'string' || typeof cwd !== 'string') return null;
  const env = value.env ?? {};
  const tags = value.tags ?? [];
  const metadata = value.metadata ?? {};
  if (!isObject(env) || !hasTexts(env) || !isTexts(tags) || !isObject(metadata)) return null;
  const pid = value.pid ?? null;
  const tmux = readTmux(value.tmux ?? null);
  const worktree = value.worktree ?? null;
  if (tmux === undefined || (pid !== null && typeof pid !== 'number')) return null;
  if (worktree !== null && !v.is(worktreePlace, worktree)) return null;
  return { name, status, cmd, started, cwd, env, tags, tmux, worktree, pid, metadata };
}

function readTmux(value: unknown): TmuxPlace | null | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { session, window, socket = null } = value;
  if (typeof session !== 'string' || typeof window !== 'string') return undefined;
  return socket === null || typeof socket === 'string' ? { session, window, socket } : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function hasTexts(value: object): value is Readonly<Record<string, string>> {
  return isTexts(Object.values(value));
}

function foreign(path: string, why: string): RalphError {
  return new RalphError('fleet-state', `${path} is not a list of workers: ${why}`, {
    remedy: `move it away: mv '${path}' '${path}.old'`,
    exitCode: 1,
  });
}
