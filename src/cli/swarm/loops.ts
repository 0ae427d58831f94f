import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import { lostText, pauseLoop, resumeLoop } from '../../fleet/control.ts';
import { endWorker } from '../../fleet/end-worker.ts';
import { type LoopRecord, loopOf, readLoop } from '../../fleet/files/loops.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { holdWorker } from '../../fleet/hold.ts';
import { systemClock } from '../../os/clock.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context } from '../kernel/spec.ts';
import { allWorkers, fault, needWorker, warnOfDamage } from './context.ts';
import { type History, historyOf, readHistory } from './history.ts';
import { needClusterLoop, wantsCluster, withCluster } from './open-cluster.ts';

/** A loop of this machine, or one of a cluster, which has a host. */
export type ShownLoop = LoopRecord & Partial<Pick<ClusterView, 'host' | 'repo' | 'branch' | 'head'>>;

/** The loops of this machine or of a cluster, as `swarm ralph` needs them. */
type Loops = {
  /** Starts a supervisor if it has to, unless the caller will. */
  need(name: string | undefined, revive?: boolean): Promise<ShownLoop>;
  list(): Promise<readonly ShownLoop[]>;
  /** False if nothing had to change. */
  pause(name: string): Promise<boolean>;
  /** Null if nothing had to change; else what it did besides. */
  resume(name: string): Promise<string | null>;
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
    async need(name, revive) {
      const { worker, loop } = await needLoop(context, name, revive);
      warnOfDamage(context, worker, loop);
      return loop;
    },
    list: async () =>
      (await allWorkers(context)).flatMap((worker) => {
        const loop = loopOf(env, worker);
        warnOfDamage(context, worker, loop);
        return loop === null ? [] : [loop];
      }),
    pause: async (name) => pauseLoop(env, name, systemClock.now()).changed,
    async resume(name) {
      const { changed, lost } = await resumeLoop(env, name, systemClock.now(), programCommand('swarm'));
      if (!changed) await allWorkers(context);
      return changed ? (lost === undefined ? '' : `: ${lostText(lost)}`) : null;
    },
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
    resume: async (name) => ((await cluster.resume(name)).changed ? '' : null),
    stop: (name) => cluster.cancel(name),
    history: async (name) => historyOf(await cluster.timeline(name)),
  };
}

async function needLoop(
  context: Context,
  name: string | undefined,
  revive = true,
): Promise<{ worker: Worker; loop: LoopRecord }> {
  const worker = await needWorker(context, name, { revive });
  if (worker.metadata.ralph !== true) throw fault(`worker '${worker.name}' is not a ralph worker`);
  const loop = readLoop(context.env, worker.name);
  if (loop === null) warnOfDamage(context, worker, loop);
  if (loop === null) throw fault(`the loop of '${worker.name}' is gone`, `swarm kill ${worker.name}`);
  return { worker, loop };
}
