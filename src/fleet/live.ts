import { isAlive, processIdentity } from '../os/process/process-identity.ts';
import type { Environment } from '../os/process/program.ts';
import { type Pane, tmuxServer } from '../os/terminal/tmux.ts';
import { hasLoop, listLoops } from './files/loops.ts';
import type { Worker } from './files/workers.ts';
import { readOwner } from './worker-window.ts';

/** A worker with what is true of it at this moment. */
export type Live = { readonly worker: Worker; readonly running: boolean; readonly pane: Pane | null };

/** Looks which workers run: one call to tmux for each server, however many there are. */
export async function lookAtWorkers(env: Environment, workers: readonly Worker[]): Promise<Live[]> {
  const sockets = new Set(workers.flatMap(({ tmux }) => (tmux === null ? [] : [tmux.socket])));
  const servers = await Promise.all(
    [...sockets].map(
      async (socket) => [socket, panesByWorker(env, await tmuxServer(socket, env).panes())] as const,
    ),
  );
  const bySocket = new Map(servers);
  return workers.map((worker) => {
    const panes = worker.tmux === null ? undefined : bySocket.get(worker.tmux.socket);
    const pane = panes?.get(worker.name) ?? null;
    return { worker, pane, running: isRunning(worker, pane) };
  });
}

/**
 * The same where only that matters. Loops are on the list as they are; tmux is asked for the other windows, and for the
 * agents of loops whose files somebody removed.
 */
export async function runningNow(env: Environment, workers: readonly Worker[]): Promise<boolean[]> {
  // Of many, one listing of their folder is cheaper than a question for each.
  const loopNames = workers.length > 1 ? new Set(listLoops(env)) : null;
  const isThere = (name: string) => loopNames?.has(name) ?? hasLoop(env, name);
  const unsure = workers.filter(
    ({ name, tmux, metadata }) => tmux === null || metadata.ralph !== true || !isThere(name),
  );
  const lives = unsure.length === 0 ? [] : await lookAtWorkers(env, unsure);
  const running = new Map(lives.map((live) => [live.worker, live.running]));
  return workers.map((worker) => running.get(worker) ?? worker.status === 'running');
}

/** The whole look at one. */
export async function lookAtWorker(env: Environment, worker: Worker): Promise<Live> {
  const [live] = await lookAtWorkers(env, [worker]);
  return live ?? { worker, running: false, pane: null };
}

function isRunning(worker: Worker, pane: Pane | null): boolean {
  if (pane !== null && !pane.dead) return true;
  // Between two iterations a loop has no agent, and runs nevertheless.
  if (worker.tmux !== null) return worker.metadata.ralph === true && worker.status === 'running';
  return worker.pid !== null && isSameProcess(worker.pid, worker.metadata.pid_started);
}

/** A pid alone may by now be that of another process. */
function isSameProcess(pid: number, startedAt: unknown): boolean {
  return typeof startedAt === 'string' ? isAlive({ pid, startedAt }) : processIdentity(pid) !== null;
}

/** The panes by the label that they got when they were opened: the name of a window may be somebody else's. */
function panesByWorker(env: Environment, panes: readonly Pane[]): Map<string, Pane> {
  return new Map(
    panes.flatMap((pane) => {
      const owner = readOwner(env, pane.label);
      return owner === null ? [] : [[owner.name, pane] as const];
    }),
  );
}
