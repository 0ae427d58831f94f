import { agentNameOf, agents } from '../agents/registry.ts';
import { hashText } from '../core/hash.ts';
import type { Environment } from '../os/process/program.ts';
import { heldUntil, readLimits, type StoredLimits } from './files/limits.ts';
import { isInIteration, isOpen, type LoopRecord, loopOf, type Why } from './files/loops.ts';
import { readWorkers } from './files/workers.ts';

/** Limit that keeps a loop back; `until` is null if it waits for the end of another iteration. */
export type Obstacle = { readonly until: number | null; readonly why: Why };

/** Returns what keeps the next iteration of a loop from starting; null if it may. Call it inside `holdingLimits`. */
export function obstacleTo(env: Environment, loop: LoopRecord, now: number): Obstacle | null {
  const limits = readLimits(env);
  if (limits.maxParallel === null && Object.keys(limits.holds).length === 0) return null;
  const others = readWorkers(env).workers.filter(({ name }) => name !== loop.name);
  const loops = others.flatMap((other) => loopOf(env, other) ?? []);
  return obstacleAmong(loop, loops, limits, now);
}

/** An account at its usage limit, or as many agents as are allowed. The loop that waits longest goes first. */
export function obstacleAmong(
  loop: LoopRecord,
  others: readonly LoopRecord[],
  { maxParallel, holds }: StoredLimits,
  now: number,
): Obstacle | null {
  const heldTo = ({ options }: LoopRecord) => heldUntil(holds, options.account ?? null, now);
  const until = heldTo(loop);
  if (until !== null) {
    const detail = `the account ${loop.options.account} is at its usage limit`;
    return { until, why: { state: 'limit', since: now, until, detail } };
  }
  if (maxParallel === null) return null;
  const running = others.filter(hasAgent).length;
  const before = others.filter(
    (other) => isDue(other, now) && heldTo(other) === null && goesBefore(other, loop),
  ).length;
  if (running + before < maxParallel) return null;
  const detail = `${running} of ${maxParallel} run`;
  return { until: null, why: { state: 'queued', since: loop.why.since, detail } };
}

function hasAgent(loop: LoopRecord): boolean {
  return isOpen(loop) && isInIteration(loop);
}

function isDue(loop: LoopRecord, now: number): boolean {
  return loop.status === 'running' && !loop.held && !isInIteration(loop) && (loop.waitUntil ?? 0) <= now;
}

function goesBefore({ why, name }: LoopRecord, other: LoopRecord): boolean {
  return why.since < other.why.since || (why.since === other.why.since && name < other.name);
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
