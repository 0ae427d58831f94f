import { join } from 'node:path';
import * as v from 'valibot';
import { ensureDir, readJson, setAside, writeAtomic } from '../../os/files/files.ts';
import { withLock } from '../../os/files/lock.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths } from './paths.ts';

/** End of the usage limit of each account, in epoch milliseconds. Its loops wait until then. */
export const holds = v.record(v.string(), v.number());
type Holds = Readonly<v.InferOutput<typeof holds>>;

/** End of the usage limit of an account; null if it is at none. */
export function heldUntil(holds: Holds, account: string | null, now: number): number | null {
  const until = account === null ? undefined : holds[account];
  return until !== undefined && until > now ? until : null;
}

export function heldAccounts(holds: Holds, now: number): string[] {
  return Object.keys(holds).filter((account) => heldUntil(holds, account, now) !== null);
}

/** Holds an account until then, or longer if it is held already. Drops holds that are over. */
export function addHold(holds: Holds, account: string, until: number, now: number): Record<string, number> {
  const next = { ...holds, [account]: Math.max(until, holds[account] ?? 0) };
  return Object.fromEntries(Object.entries(next).filter(([, end]) => end > now));
}

const storedLimits = v.object({
  maxParallel: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  holds,
});
export type StoredLimits = Readonly<v.InferOutput<typeof storedLimits>>;

const noLimits: StoredLimits = { maxParallel: null, holds: {} };

export function readLimits(env: Environment): StoredLimits {
  const path = pathOf(env);
  const file = readJson(path);
  if (file.ok && v.is(storedLimits, file.value)) return file.value;
  if (file.ok || file.reason === 'torn') setAside(path);
  return noLimits;
}

export function setMaxParallel(env: Environment, maxParallel: number | null): void {
  update(env, () => ({ maxParallel }));
}

export function holdAccount(env: Environment, account: string, until: number, now: number): void {
  update(env, ({ holds }) => ({ holds: addHold(holds, account, until, now) }));
}

export function releaseAccount(env: Environment, account: string): boolean {
  let isHeld = false;
  update(env, ({ holds: { [account]: until, ...holds } }) => {
    isHeld = until !== undefined;
    return { holds };
  });
  return isHeld;
}

/** Runs `use` under the lock of the limits, which every start of an iteration takes. */
export function holdingLimits<T>(env: Environment, use: () => T): T {
  ensureDir(fleetPaths(env).root);
  return withLock(join(fleetPaths(env).root, 'limits.lock'), use);
}

function update(env: Environment, change: (limits: StoredLimits) => Partial<StoredLimits>): void {
  holdingLimits(env, () => {
    const limits = readLimits(env);
    writeAtomic(pathOf(env), `${JSON.stringify({ ...limits, ...change(limits) })}\n`);
  });
}

function pathOf(env: Environment): string {
  return join(fleetPaths(env).root, 'limits.json');
}
