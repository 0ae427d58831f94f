import { dirname, resolve } from 'node:path';
import { messageOf, RalphError } from '../core/error.ts';
import { ensureDir, isFolder, readText, removeIfThere, writeAtomic } from '../os/files/files.ts';
import { processIdentity } from '../os/process/process-identity.ts';
import { withoutMarks } from '../os/process/process-table.ts';
import { type Environment, findProgram } from '../os/process/program.ts';
import { startDetached } from '../os/process/spawn.ts';
import { tmuxServer } from '../os/terminal/tmux.ts';
import { endWorker, removeLogs } from './end-worker.ts';
import { appendLogLine } from './files/log.ts';
import { type NewLoop, newRecord } from './files/loop-record.ts';
import { createLoop, isOpen, loopOf, removeLoop, retireLoop } from './files/loops.ts';
import { fleetPaths, isWorkerName, logPaths, loopPaths, signalPaths, workerRunId } from './files/paths.ts';
import { keepEnvironment, removeSignals, workerEnvironment } from './files/signal-files.ts';
import { stamp } from './files/time.ts';
import {
  addWorker,
  findWorker,
  type LoopWorker,
  removeWorker,
  updateWorker,
  type Worker,
  worktreeOf,
} from './files/workers.ts';
import { holdWorker } from './hold.ts';
import { lookAtWorker } from './live.ts';
import { readPrompt, startedText, startIteration } from './start-iteration.ts';
import { windowFor } from './worker-window.ts';
import { createWorktree, type NewWorktree, type WorktreeOrder } from './worktrees.ts';

export type SpawnOrder = {
  readonly name: string;
  readonly cmd: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  /** Null starts a background process with log files. */
  readonly tmux: { readonly session: string | undefined; readonly socket: string | undefined } | null;
  readonly worktree: Pick<WorktreeOrder, 'branch' | 'dir'> | null;
  readonly loop: NewLoop | null;
  /** Replaces a worker of that name, even if it runs. */
  readonly replace?: boolean;
};

/** Makes and starts a worker, or leaves nothing behind. Calls `warn` if it had to clean up. */
export async function spawnWorker(
  env: Environment,
  order: SpawnOrder,
  clock: { now(): number },
  warn: (text: string) => void,
): Promise<Worker> {
  checkName(order.name);
  if (order.tmux?.session !== undefined) checkName(order.tmux.session, 'a tmux session');
  if (order.tmux?.socket !== undefined) checkName(order.tmux.socket, 'a tmux socket');
  return holdWorker(env, order.name, async () => {
    const before = findWorker(env, order.name);
    if (before !== null && !order.replace) await checkOver(env, before);
    const { name, cwd } = order;
    const worktree = order.worktree && (await createWorktree(env, { name, cwd, ...order.worktree }));
    const restoreEnvironment = keepFiles([signalPaths(env, name).environment]);
    keepEnvironment(env, name);
    try {
      const worker = workerFor(env, order, worktree, clock.now());
      checkStart(env, worker, order.loop);
      if (before !== null) await endWorker(env, before, clock.now());
      const running = await startWorker(env, worker, { loop: order.loop, before }, clock.now);
      worktree?.keep();
      return running;
    } catch (error) {
      warn('spawn failed, cleaning up partial state');
      restoreEnvironment();
      await worktree?.undo();
      throw error;
    }
  });
}

/** Throws unless the worker is over and has no worktree, so that another may take its name. */
async function checkOver(env: Environment, worker: Worker): Promise<void> {
  const { name } = worker;
  const loop = loopOf(env, worker);
  const { running } = await lookAtWorker(env, worker);
  const isInUse = running || (loop !== null && isOpen(loop));
  if (!isInUse && worktreeOf(worker) === null) return;
  const remedy = isInUse ? `swarm kill ${name}` : `swarm clean ${name}, or spawn it with --replace`;
  throw fault('worker-exists', `worker '${name}' already exists`, remedy);
}

/**
 * Starts a worker and puts it on the list in place of `before`, which has ended. A failure restores `before` as a
 * stopped worker.
 */
export async function startWorker(
  env: Environment,
  worker: Worker,
  { loop, before }: { readonly loop: NewLoop | null; readonly before: Worker | null },
  now: () => number,
): Promise<Worker> {
  const { root: _root, lock: _lock, ...files } = loopPaths(env, worker.name);
  const restoreLoop = keepFiles(before === null ? [] : Object.values(files));
  removeSignals(env, worker.name);
  if (before !== null) {
    updateWorker(env, worker.name, worker);
    removeLogs(env, worker.name);
    retireLoop(env, worker.name);
  }
  if (loop !== null) createLoop(env, newRecord(worker.name, loop, now()));
  if (before === null) addWorker(env, worker);
  const { tmux } = worker;
  try {
    return tmux === null ? await startProcess(env, worker) : await openWindow(env, { ...worker, tmux }, now);
  } catch (error) {
    await endWorker(env, worker, now());
    if (loop !== null) removeLoop(env, worker.name);
    if (tmux === null) removeLogs(env, worker.name);
    restoreLoop();
    removeSignals(env, worker.name);
    if (before === null) removeWorker(env, worker.name);
    else updateWorker(env, worker.name, { ...before, status: 'stopped' });
    throw error;
  }
}

/** Reads files; the returned function puts them back as they were. */
function keepFiles(paths: readonly string[]): () => void {
  const files = paths.map((path) => ({ path, text: readText(path) }));
  return () => {
    for (const { path, text } of files) {
      if (text === null) removeIfThere(path);
      else {
        ensureDir(dirname(path));
        writeAtomic(path, text);
      }
    }
  };
}

async function openWindow(env: Environment, worker: LoopWorker, now: () => number): Promise<Worker> {
  const tmux = tmuxServer(worker.tmux.socket, env);
  if (worker.metadata.ralph !== true) {
    await tmux.openWindow(windowFor(env, worker, null)).catch(failWindow);
    return worker;
  }
  const result = await startIteration(env, worker, tmux, now);
  if (result.kind === 'ended') throw fault('prompt', result.loop.why.detail ?? '');
  if (result.kind === 'not-opened') return failWindow(result.error);
  const metadata = { ...worker.metadata, ralph_iteration: result.loop?.iteration ?? 0 };
  updateWorker(env, worker.name, { metadata });
  // The supervisor did not start this iteration, and so did not log it.
  if (result.kind === 'started')
    appendLogLine(fleetPaths(env).supervisorLog, now(), startedText(result.loop));
  return { ...worker, metadata };
}

/** Throws if the start is bound to fail, before anything is changed. */
export function checkStart(env: Environment, worker: Worker, loop: NewLoop | null): void {
  const { cwd, tmux } = worker;
  if (tmux !== null && findProgram('tmux', env) === null)
    throw fault('tmux', 'tmux is not installed', 'apt install tmux');
  if (!isFolder(cwd)) throw fault('process', `failed to spawn process: there is no folder ${cwd}`);
  const prompt = loop === null ? null : readPrompt(loop.settings.prompt_file);
  if (prompt !== null && 'problem' in prompt) throw fault('prompt', prompt.problem);
  // `ralph run` may start the agent in a sandbox.
  if (loop?.options.run !== undefined) return;
  const [program = ''] = worker.cmd;
  const place = program.includes('/') ? resolve(cwd, program) : program;
  // Otherwise only the shell in the window would say so.
  if (findProgram(place, workerEnvironment(env, worker)) === null)
    throw fault('process', `failed to spawn process: ${program} is not a program that can be run`);
}

async function startProcess(env: Environment, worker: Worker): Promise<Worker> {
  const [program = '', ...words] = worker.cmd;
  const logs = logPaths(env, worker.name);
  ensureDir(fleetPaths(env).logs);
  let pid: number;
  try {
    pid = await startDetached([program, ...words], {
      cwd: worker.cwd,
      env: {
        ...withoutMarks(env),
        ...worker.env,
        SWARM_WORKER: worker.name,
        RALPH_RUN_ID: workerRunId(env, worker.name),
      },
      ...logs,
    });
  } catch (error) {
    throw fault('process', `failed to spawn process: ${messageOf(error)}`);
  }
  const startedAt = processIdentity(pid)?.startedAt;
  const metadata = { ...worker.metadata, ...(startedAt === undefined ? {} : { pid_started: startedAt }) };
  updateWorker(env, worker.name, { pid, metadata });
  return { ...worker, pid, metadata };
}

function workerFor(env: Environment, order: SpawnOrder, worktree: NewWorktree | null, now: number): Worker {
  const { name, cmd, tags, tmux, loop } = order;
  return {
    name,
    status: 'running',
    cmd,
    started: stamp(now),
    cwd: worktree?.place.path ?? order.cwd,
    env: order.env,
    tags,
    tmux:
      tmux === null
        ? null
        : { session: tmux.session ?? fleetPaths(env).session, window: name, socket: tmux.socket ?? null },
    worktree: worktree?.place ?? null,
    pid: null,
    metadata: loop === null ? {} : { ralph: true, ralph_iteration: 0 },
  };
}

/** Throws if a text cannot name a worker, a tmux session or a socket. */
export function checkName(name: string, what = 'a worker'): void {
  if (isWorkerName(name)) return;
  throw fault(
    'worker-name',
    `${JSON.stringify(name)} is no name for ${what}: letters, digits, dash, dot and underscore only`,
  );
}

function failWindow(cause: unknown): never {
  throw new RalphError('tmux', `failed to create tmux window: ${messageOf(cause)}`, { exitCode: 1, cause });
}

function fault(code: string, message: string, remedy?: string): RalphError {
  return new RalphError(code, message, { exitCode: 1, remedy });
}
