import type { Clock } from '../os/clock.ts';
import { fileStamp } from '../os/files/files.ts';
import type { Environment } from '../os/process/program.ts';
import { readLoop } from './files/loops.ts';
import { fleetPaths } from './files/paths.ts';
import { readWorkers, updateWorkers, type Worker } from './files/workers.ts';
import { needsDriving } from './what-next.ts';

/** The list of workers in the hands of the supervisor. */
export type RegistryWriter = {
  /** The list as it is now. */
  read(): readonly Worker[];
  /** True if somebody else has written it since, or `distrust` was called. */
  isStale(): boolean;
  distrust(): void;
  /** Written soon, together with others: at most once for a burst of changes. */
  change(name: string, part: Partial<Worker>): void;
  /** Writes what is due. */
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

/** A command may have killed the worker or made another of that name meanwhile. */
function stillTrue(env: Environment, worker: Worker, part: Partial<Worker> | undefined): Partial<Worker> {
  if (part === undefined) return {};
  const isDriven = needsDriving(readLoop(env, worker.name));
  return (part.status === 'running') === isDriven ? part : {};
}
