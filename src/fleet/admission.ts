import { readLimits } from '../store/fleet-limits.ts';
import { type LoopRecord, readLoop } from '../store/fleet-loops.ts';
import { readWorkers, type Worker } from '../store/fleet-workers.ts';
import type { Environment } from '../system/program.ts';
import { type Admission, accountOf, admit, type Candidate } from './limits.ts';

/** Whether the limits of the fleet let this loop start its next iteration now; to be asked while holding them. */
export function mayStart(env: Environment, worker: Worker, loop: LoopRecord, now: number): Admission {
  const limits = readLimits(env);
  if (limits.maxParallel === null && Object.keys(limits.holds).length === 0) return { admitted: true };
  const others = readWorkers(env).workers.flatMap((other) => {
    if (other.name === worker.name || other.metadata.ralph !== true) return [];
    const found = readLoop(env, other.name);
    return found === null ? [] : candidates(other, found, now);
  });
  return admit(candidate(worker, loop, false), others, limits, now);
}

/** The account that a loop works on; null where nobody knows. */
export function accountOfLoop({ cmd, env }: Worker, { options }: LoopRecord): string | null {
  return accountOf(cmd, env, options.account);
}

/** A loop that runs, or waits for nothing but its turn. */
function candidates(worker: Worker, loop: LoopRecord, now: number): Candidate[] {
  const isOpen = loop.status === 'running' || loop.status === 'paused';
  const runs = isOpen && loop.iteration > loop.ended;
  const isDue = loop.status === 'running' && !loop.held && (loop.waitUntil ?? 0) <= now;
  return runs || isDue ? [candidate(worker, loop, runs)] : [];
}

function candidate(worker: Worker, loop: LoopRecord, runs: boolean): Candidate {
  return { name: worker.name, account: accountOfLoop(worker, loop), runs, waitsSince: loop.why.since };
}
