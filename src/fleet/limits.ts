import { agentNameOf, agents } from '../agents/registry.ts';
import { hashText } from '../core/hash.ts';
import type { Environment } from '../os/process/program.ts';
import { heldUntil, readLimits, type StoredLimits } from './files/limits.ts';
import { isInIteration, isOpen, type LoopRecord, loopOf, type Why } from './files/loops.ts';
import { readWorkers, type Worker } from './files/workers.ts';

/** A loop as the limits see it. Times are epoch milliseconds. */
export type Candidate = {
  readonly name: string;
  /** Null if the account is unknown. */
  readonly account: string | null;
  /** True while an iteration runs. */
  readonly runs: boolean;
  /** Time since when it waits for its turn. */
  readonly waitsSince: number;
};

export type Admission =
  | { readonly admitted: true }
  /** `until` is null if it waits for the end of another iteration. */
  | { readonly admitted: false; readonly until: number | null; readonly why: Why };

/** True if the limits of the fleet let this loop start its next iteration now. Call it inside `holdingLimits`. */
export function mayStart(env: Environment, worker: Worker, loop: LoopRecord, now: number): Admission {
  const limits = readLimits(env);
  if (limits.maxParallel === null && Object.keys(limits.holds).length === 0) return { admitted: true };
  const others = readWorkers(env).workers.flatMap((other) => {
    const otherLoop = other.name === worker.name ? null : loopOf(env, other);
    return otherLoop === null ? [] : candidates(other, otherLoop, now);
  });
  return admit(candidate(worker, loop, false), others, limits, now);
}

/** Returns the account of a loop; null if it is unknown. */
export function accountOfLoop({ cmd, env }: Worker, { options }: LoopRecord): string | null {
  return accountOf(cmd, env, options.account);
}

/** Returns a loop as a candidate if it runs or is due. */
function candidates(worker: Worker, loop: LoopRecord, now: number): Candidate[] {
  const runs = isOpen(loop) && isInIteration(loop);
  const isDue = loop.status === 'running' && !loop.held && (loop.waitUntil ?? 0) <= now;
  return runs || isDue ? [candidate(worker, loop, runs)] : [];
}

function candidate(worker: Worker, loop: LoopRecord, runs: boolean): Candidate {
  return { name: worker.name, account: accountOfLoop(worker, loop), runs, waitsSince: loop.why.since };
}

/**
 * Returns the account of a command: the one that the user named, else that of the agent. Variables of the worker may
 * bring another login; the account holds only a hash of them.
 */
export function accountOf(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  account?: string,
): string | null {
  if (account !== undefined) return account;
  const agent = agentNameOf(command[0] ?? '');
  if (agent === 'custom') return null;
  const own = [...agents[agent].accountVariables, 'HOME'].flatMap((name) =>
    env[name] === undefined ? [] : [`${name}=${env[name]}`],
  );
  return own.length === 0 ? agent : `${agent}#${hashText(own.join('\n')).slice(0, 8)}`;
}

/**
 * Decides whether the next iteration of a loop may start: not while its account is at a usage limit, and no more at
 * once than the fleet allows. The loop that waits longest goes first.
 */
export function admit(
  candidate: Candidate,
  others: readonly Candidate[],
  { maxParallel, holds }: StoredLimits,
  now: number,
): Admission {
  const until = heldUntil(holds, candidate.account, now);
  if (until !== null) {
    const detail = `the account ${candidate.account} is at its usage limit`;
    return { admitted: false, until, why: { state: 'limit', since: now, until, detail } };
  }
  if (maxParallel === null) return { admitted: true };
  const running = others.filter(({ runs }) => runs).length;
  const before = others.filter(
    (other) => !other.runs && heldUntil(holds, other.account, now) === null && goesBefore(other, candidate),
  ).length;
  if (running + before < maxParallel) return { admitted: true };
  const detail = `${running} of ${maxParallel} run`;
  return { admitted: false, until: null, why: { state: 'queued', since: candidate.waitsSince, detail } };
}

function goesBefore(one: Candidate, other: Candidate): boolean {
  return one.waitsSince < other.waitsSince || (one.waitsSince === other.waitsSince && one.name < other.name);
}
