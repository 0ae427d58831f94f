import { renameSync } from 'node:fs';
import * as v from 'valibot';
import { RalphError } from '../core/error.ts';
import { ensureDir, lstatOf, readJson, writeAtomic } from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import type { Environment } from '../system/program.ts';
import { fleetPaths } from './fleet-paths.ts';

const texts = v.pipe(v.array(v.string()), v.readonly());
const tmuxPlace = v.object({
  session: v.string(),
  window: v.string(),
  socket: v.nullish(v.string(), null),
});
export const worktreePlace = v.object({
  path: v.string(),
  branch: v.string(),
  base_repo: v.string(),
  /** Its folder was removed on purpose; a respawn makes it again. */
  removed: v.exactOptional(v.literal(true)),
});

/** A worker as it stands in `state.json`; the names are the contract of that file. An older record may lack the rest. */
const workerSchema = v.object({
  name: v.string(),
  status: v.picklist(['running', 'stopped']),
  cmd: texts,
  started: v.string(),
  cwd: v.string(),
  env: v.nullish(v.pipe(v.record(v.string(), v.string()), v.readonly()), {}),
  tags: v.nullish(texts, []),
  tmux: v.nullish(tmuxPlace, null),
  worktree: v.nullish(worktreePlace, null),
  pid: v.nullish(v.number(), null),
  metadata: v.nullish(
    v.looseObject({ ralph: v.exactOptional(v.boolean()), ralph_iteration: v.exactOptional(v.number()) }),
    {},
  ),
});
const workersFile = v.object({ workers: v.array(workerSchema) });

export type TmuxPlace = Readonly<v.InferOutput<typeof tmuxPlace>>;
export type WorktreePlace = Readonly<v.InferOutput<typeof worktreePlace>>;
export type Worker = Readonly<v.InferOutput<typeof workerSchema>>;

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
  const { success, output, issues } = v.safeParse(workersFile, value);
  if (success) return output.workers;
  const [, worker, field] = issues[0].path ?? [];
  if (worker === undefined) throw foreign(path, 'it has no list of workers');
  throw foreign(path, `worker ${Number(worker.key) + 1} in it has no usable ${field?.key ?? 'record'}`);
}

function foreign(path: string, why: string): RalphError {
  return new RalphError('fleet-state', `${path} is not a list of workers: ${why}`, {
    remedy: `move it away: mv '${path}' '${path}.old'`,
    exitCode: 1,
  });
}
