import * as v from 'valibot';
import { readProcText, readStat } from './process-list.ts';
import { exists } from './process-table.ts';
import { listWithPs } from './spawn.ts';

/** Identifies a process, unlike a pid, which a later process may get again. */
export const processIdentitySchema = v.object({ pid: v.number(), startedAt: v.string() });
export type ProcessIdentity = Readonly<v.InferOutput<typeof processIdentitySchema>>;

let bootId: string | undefined;

/** Returns the identity of a process; null if it does not exist or is a zombie. */
export function processIdentity(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const startedAt = startOf(pid);
  return startedAt === null ? null : { pid, startedAt };
}

export function ownIdentity(): ProcessIdentity {
  return processIdentity(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
}

/** True if this very process is still running. */
export function isAlive(identity: ProcessIdentity): boolean {
  return processIdentity(identity.pid)?.startedAt === identity.startedAt;
}

/** Returns when a process started, in epoch milliseconds to about a second; null if the system does not tell. */
export function processStart(pid: number): number | null {
  if (process.platform === 'win32') return null;
  if (process.platform !== 'linux') {
    const at = Date.parse(`${startOf(pid)} UTC`);
    return Number.isNaN(at) ? null : at;
  }
  const ticks = Number(readStat(pid)?.startTime || Number.NaN);
  const at = bootTime() + (ticks / ticksPerSecond) * 1000;
  return Number.isFinite(at) ? at : null;
}

// Unit of times in /proc, the same on every architecture that Node runs on.
const ticksPerSecond = 100;

function bootTime(): number {
  return Number(/^btime (\d+)$/m.exec(readProcText('stat') ?? '')?.[1] ?? Number.NaN) * 1000;
}

function startOf(pid: number): string | null {
  if (process.platform === 'win32') return exists(pid) ? 'unknown' : null;
  if (process.platform !== 'linux')
    return startFromPs(listWithPs(['-o', 'stat=,lstart=', '-p', String(pid)]) ?? '');
  const stat = readStat(pid);
  if (stat === null) return null;
  // Start times count from the boot: after the next boot the same number can come again.
  bootId ??= readProcText('sys/kernel/random/boot_id')?.trim() ?? 'boot';
  return `${bootId}/${stat.startTime}`;
}

/** Reads a line such as `Ss   Sun Nov 15 21:19:00 2026`. */
export function startFromPs(line: string): string | null {
  const match = /^\s*(\S+)\s+(\S.*\S)\s*$/.exec(line);
  return match === null || match[1]?.startsWith('Z') ? null : (match[2] ?? null);
}
