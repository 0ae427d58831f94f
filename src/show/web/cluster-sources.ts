import type { Cluster, ClusterView } from '../../cluster/cluster.ts';
import { messageOf } from '../../core/error.ts';
import type { Timeline } from '../../fleet/files/events.ts';
import { stamp } from '../../fleet/files/time.ts';
import type { Worker } from '../../fleet/files/workers.ts';
import { type Actions, no, yes } from './control.ts';
import { type LoopSource, plainSource, type Sources } from './sources.ts';

/** The loops of a cluster, as the dashboard shows those of this machine. */
export function clusterSources(cluster: Cluster): () => Promise<Sources> {
  /** Details by loop, asked for again only after a change. */
  const known = new Map<string, { readonly mark: string; readonly told: Told }>();

  async function toldOf(view: ClusterView): Promise<Told> {
    const mark = JSON.stringify([view.startedAt, view.iteration, view.ended, view.status, view.why]);
    const before = known.get(view.name);
    if (before?.mark === mark) return before.told;
    const [timeline, order] = await Promise.all([
      cluster.timeline(view.name),
      before === undefined ? cluster.order(view.name) : null,
    ]);
    const told = { timeline, prompt: before?.told.prompt ?? order?.source?.prompt ?? '' };
    known.set(view.name, { mark, told });
    return told;
  }

  return async () => {
    try {
      const views = await cluster.list();
      const sources = await Promise.all(views.map(async (view) => sourceOf(view, await toldOf(view))));
      return { sources, trouble: null };
    } catch (error) {
      return { sources: [], trouble: `the cluster cannot be shown: ${messageOf(error)}` };
    }
  };
}

/** Actions on a loop of another machine; nobody can type into its terminal. */
export function clusterActions(cluster: Cluster): Actions {
  return async ({ name }, { action }) => {
    switch (action) {
      case 'pause':
        return (await cluster.pause(name)) ? yes('it waits after this iteration') : no('it does not run');
      case 'resume':
        return (await cluster.resume(name)) ? yes('it goes on') : no('it is not paused');
      case 'stop':
        return (await cluster.cancel(name)) ? yes('it is stopped') : no('it is over');
      default:
        return no('it runs on another machine: change its branch, then resume it');
    }
  };
}

type Told = { readonly timeline: Timeline; readonly prompt: string };

function sourceOf(view: ClusterView, told: Told): LoopSource {
  const place = view.host === null ? '' : `${view.host}: `;
  const lives = { running: 'alive', paused: 'paused', stopped: 'dead', failed: 'dead' } as const;
  return {
    ...plainSource,
    id: `worker:${view.name}`,
    kind: 'worker',
    name: view.name,
    folder: `${place}${view.repo} ${view.branch}`,
    hasTerminal: true,
    run: null,
    journal: null,
    life: lives[view.status],
    worker: { worker: workerOf(view), loop: view, told },
  };
}

function workerOf({ name, command, startedAt, tags, repo }: ClusterView): Worker {
  return {
    name,
    status: 'running',
    cmd: command,
    started: stamp(startedAt),
    cwd: repo,
    env: {},
    tags,
    tmux: null,
    worktree: null,
    pid: null,
    metadata: { ralph: true },
  };
}
