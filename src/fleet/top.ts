import type { Environment } from '../os/process/program.ts';
import { heldAccounts, readLimits } from './files/limits.ts';
import {
  isInIteration,
  isOpen,
  type LoopRecord,
  loopOf,
  needsYou,
  type Why,
  type WhyState,
} from './files/loops.ts';
import { ago, readStamp } from './files/time.ts';
import { readWorkers } from './files/workers.ts';
import { type Live, lookAtWorkers } from './live.ts';
import { supervisorPid } from './supervisor-start.ts';
import { byUrgency, nextCommand, whyText } from './why.ts';

export type TopRow = {
  readonly name: string;
  readonly state: WhyState;
  readonly needsYou: boolean;
  readonly isLoop: boolean;
  readonly why: string;
  readonly since: string;
  /** `4/20`, or nothing for a worker that is no loop. */
  readonly iteration: string;
  readonly failures: number;
  readonly next: string | null;
};

export type TopView = {
  readonly rows: readonly TopRow[];
  /** Running iterations, and their limit. */
  readonly running: number;
  readonly maxParallel: number | null;
  readonly accountsAtLimit: readonly string[];
  readonly undriven: boolean;
};

/** Returns the state of the fleet at this moment, with one call to tmux for each server. */
export async function topView(env: Environment, now: number): Promise<TopView> {
  const lives = await lookAtWorkers(env, readWorkers(env).workers);
  const all = lives.map((live) => ({ live, loop: loopOf(env, live.worker) }));
  const rows = all.map(({ live, loop }) => rowOf(live, loop, now)).sort(byUrgency);
  const { maxParallel, holds } = readLimits(env);
  const open = all.filter(({ loop }) => loop?.status === 'running' && !loop.held);
  return {
    rows,
    running: all.filter(({ loop }) => loop !== null && isOpen(loop) && isInIteration(loop)).length,
    maxParallel,
    accountsAtLimit: heldAccounts(holds, now),
    undriven: open.length > 0 && supervisorPid(env) === null,
  };
}

function rowOf({ worker, running, pane }: Live, loop: LoopRecord | null, now: number): TopRow {
  const { name } = worker;
  if (loop !== null) return topRow(name, loopWhy(loop, pane !== null, now), loop, now);
  const why: Why = { state: running ? 'working' : 'stopped', since: readStamp(worker.started) ?? now };
  return topRow(name, why, null, now);
}

/** Returns the row of a worker; `loop` is null if it is no loop. */
export function topRow(name: string, why: Why, loop: LoopRecord | null, now: number): TopRow {
  return {
    name,
    state: why.state,
    needsYou: needsYou(why.state),
    isLoop: loop !== null,
    why: whyText(why, now),
    since: ago(now - why.since),
    iteration: loop === null ? '' : `${loop.iteration}/${loop.settings.max_iterations}`,
    failures: loop?.totalFailures ?? 0,
    next: nextCommand(name, why),
  };
}

/** Returns the state of a loop. Its window may be gone since the record was written. */
function loopWhy(loop: LoopRecord, hasWindow: boolean, now: number): Why {
  const runs = isOpen(loop) && isInIteration(loop);
  if (runs && !hasWindow && loop.why.state !== 'starting') return { state: 'window-lost', since: now };
  return loop.why;
}
