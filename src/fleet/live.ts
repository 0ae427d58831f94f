import { isAlive, processIdentity } from '../os/process/process-identity.ts';
import type { Environment } from '../os/process/program.ts';
import { type Pane, tmuxServer } from '../os/terminal/tmux.ts';
import { hasLoop, listLoops } from './files/loops.ts';
import type { Worker } from './files/workers.ts';
import { panesByWorker } from './worker-window.ts';

export type Live = { readonly worker: Worker; readonly running: boolean; readonly pane: Pane | null };

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
 * Returns which workers run, as far as the list tells. Asks tmux only about workers without a loop, and loops whose
 * files are gone.
 */
export async function runningNow(env: Environment, workers: readonly Worker[]): Promise<boolean[]> {
  // For many workers, one listing of the folder is cheaper.
  const loopNames = workers.length > 1 ? new Set(listLoops(env)) : null;
  const isThere = (name: string) => loopNames?.has(name) ?? hasLoop(env, name);
  const unsure = workers.filter(
    ({ name, tmux, metadata }) => tmux === null || metadata.ralph !== true || !isThere(name),
  );
  const lives = unsure.length === 0 ? [] : await lookAtWorkers(env, unsure);
  const running = new Map(lives.map((live) => [live.worker, live.running]));
  return workers.map((worker) => running.get(worker) ?? worker.status === 'running');
}

export async function lookAtWorker(env: Environment, worker: Worker): Promise<Live> {
  const [live] = await lookAtWorkers(env, [worker]);
  return live ?? { worker, running: false, pane: null };
}

function isRunning(worker: Worker, pane: Pane | null): boolean {
  if (pane !== null && !pane.dead) return true;
  // A loop runs between two iterations, too, when it has no agent.
  if (worker.tmux !== null) return worker.metadata.ralph === true && worker.status === 'running';
  return worker.pid !== null && isSameProcess(worker.pid, worker.metadata.pid_started);
}

/** Compares the start time, too: the pid may be that of another process by now. */
function isSameProcess(pid: number, startedAt: unknown): boolean {
  return typeof startedAt === 'string' ? isAlive({ pid, startedAt }) : processIdentity(pid) !== null;
}
