import type { Clock } from '../os/clock.ts';
import { fileStamp } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';
import { readLoop } from './files/loops.ts';
import { fleetPaths } from './files/paths.ts';
import { readWorkers, updateWorkers, type Worker } from './files/workers.ts';
import { needsDriving } from './what-next.ts';

/** Access of the supervisor to the list of workers. */
export type RegistryWriter = {
  /** Reads the list. */
  read(): readonly Worker[];
  /** True if another process wrote the list since, or after `distrust`. */
  isStale(): boolean;
  distrust(): void;
  /** Changes a worker. A burst of changes is written once. */
  change(name: string, part: Partial<Worker>): void;
  /** Writes pending changes. */
  flush(): void;
};

const flushMs = 30;

export function createRegistryWriter(env: Environment, clock: Clock): RegistryWriter {
  const changes = new Map<string, Partial<Worker>>();
  const stampNow = () => fileStamp(fleetPaths(env).state);
  let stamp = '';

  function flush(): void {
    if (changes.size === 0) return;
    const due = new Map(changes);
    changes.clear();
    updateWorkers(env, (workers) =>
      workers.map((worker) => ({ ...worker, ...stillTrue(env, worker, due.get(worker.name)) })),
    );
    stamp = stampNow();
  }

  return {
    read() {
      stamp = stampNow();
      return readWorkers(env).workers;
    },
    isStale: () => stampNow() !== stamp,
    distrust() {
      stamp = '';
    },
    change(name, part) {
      if (changes.size === 0) clock.timer(flushMs, flush);
      changes.set(name, { ...changes.get(name), ...part });
    },
    flush,
  };
}

/** Drops a change that is outdated: a command may have killed or replaced the worker. */
function stillTrue(env: Environment, worker: Worker, part: Partial<Worker> | undefined): Partial<Worker> {
  if (part === undefined) return {};
  const isDriven = needsDriving(readLoop(env, worker.name));
  return (part.status === 'running') === isDriven ? part : {};
}
