import { join } from 'node:path';
import * as v from 'valibot';
import { ensureDir, readJson, setAside, writeAtomic } from '../../os/files/files.ts';
import { withLock } from '../../os/files/lock.ts';
import type { Environment } from '../../os/process/program.ts';
import { fleetPaths } from './paths.ts';

/** Limits that hold over all loops of a machine. */
const storedLimits = v.object({
  maxParallel: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  /** Until when the loops of an account wait, in epoch milliseconds, by account. */
  holds: v.record(v.string(), v.number()),
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

/** Null takes the limit away. */
export function setMaxParallel(env: Environment, maxParallel: number | null): void {
  holdingLimits(env, () => write(env, { ...readLimits(env), maxParallel }));
}

/** All loops of the account wait until then, or longer where they do already. What is over is forgotten. */
export function holdAccount(env: Environment, account: string, until: number, now: number): void {
  holdingLimits(env, () => {
    const { holds, ...rest } = readLimits(env);
    const next = { ...holds, [account]: Math.max(until, holds[account] ?? 0) };
    write(env, { ...rest, holds: Object.fromEntries(Object.entries(next).filter(([, end]) => end > now)) });
  });
}

/** Lets the loops of an account go; false where it was not held. */
export function releaseAccount(env: Environment, account: string): boolean {
  return holdingLimits(env, () => {
    const { holds, ...rest } = readLimits(env);
    const { [account]: held, ...others } = holds;
    if (held !== undefined) write(env, { ...rest, holds: others });
    return held !== undefined;
  });
}

/** Nobody else starts an iteration or changes a limit meanwhile. */
export function holdingLimits<T>(env: Environment, use: () => T): T {
  ensureDir(fleetPaths(env).root);
  return withLock(join(fleetPaths(env).root, 'limits.lock'), use);
}

function write(env: Environment, limits: StoredLimits): void {
  writeAtomic(pathOf(env), `${JSON.stringify(limits)}\n`);
}

function pathOf(env: Environment): string {
  return join(fleetPaths(env).root, 'limits.json');
}
