import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import { pauseLoop, resumeLoop } from '../../fleet/control.ts';
import { endWorker } from '../../fleet/end-worker.ts';
import { type LoopRecord, readLoop } from '../../fleet/files/loops.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { systemClock } from '../../os/clock.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker } from './context.ts';
import { type History, historyOf, readHistory } from './history.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';

/** A loop of this machine, or one of a cluster, which has a host. */
export type ShownLoop = LoopRecord & Partial<Pick<ClusterView, 'host' | 'repo' | 'branch' | 'head'>>;

/** The loops of this machine or of a cluster, as `swarm ralph` needs them. */
type Loops = {
  need(name: string | undefined): Promise<ShownLoop>;
  list(): Promise<readonly ShownLoop[]>;
  /** False if nothing had to change. */
  pause(name: string): Promise<boolean>;
  resume(name: string): Promise<boolean>;
  /** Ends the loop and its agent; the worker stays on the list. */
  stop(name: string): Promise<unknown>;
  history(name: string): Promise<History>;
};

/** Calls `use` with the loops that the command is about. */
export async function withLoops(
  context: Context,
  values: { readonly cluster?: string },
  use: (loops: Loops) => Promise<number>,
): Promise<number> {
  if (!wantsCluster(context, values)) return use(localLoops(context));
  return withCluster(context, values, (cluster) => use(clusterLoops(cluster)));
}

function localLoops(context: Context): Loops {
  const { env } = context;
  return {
    need: async (name) => (await needLoop(context, name)).loop,
    list: async () =>
      (await allWorkers(context)).flatMap(({ name, metadata }) => {
        const loop = metadata.ralph === true ? readLoop(env, name) : null;
        return loop === null ? [] : [loop];
      }),
    pause: async (name) => pauseLoop(env, name, systemClock.now()).changed,
    resume: async (name) => (await resumeLoop(env, name, systemClock.now(), programCommand('swarm'))).changed,
    async stop(name) {
      const { worker } = await needLoop(context, name);
      await holdWorker(env, name, () => endWorker(env, worker, systemClock.now()));
    },
    async history(name) {
      const { worker, loop } = await needLoop(context, name);
      return readHistory(env, worker, loop);
    },
  };
}

function clusterLoops(cluster: Cluster): Loops {
  return {
    need: (name) => needClusterLoop(cluster, name),
    list: () => cluster.list(),
    pause: async (name) => (await cluster.pause(name)).changed,
    resume: async (name) => (await cluster.resume(name)).changed,
    stop: (name) => cluster.cancel(name),
    history: async (name) => historyOf(await cluster.timeline(name)),
  };
}

async function needLoop(
  context: Context,
  name: string | undefined,
): Promise<{ worker: Worker; loop: LoopRecord }> {
  const worker = await needWorker(context, name);
  if (worker.metadata.ralph !== true) throw fault(`worker '${worker.name}' is not a ralph worker`);
  const loop = readLoop(context.env, worker.name);
  if (loop === null) throw fault(`the loop of '${worker.name}' is gone`, `swarm kill ${worker.name}`);
  return { worker, loop };
}
