import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { exists, readStat } from './process-table.ts';
import { listWithPs } from './spawn.ts';

/** A process that cannot be taken for a later one with the same pid. */
export const processIdentitySchema = v.object({ pid: v.number(), startedAt: v.string() });
export type ProcessIdentity = Readonly<v.InferOutput<typeof processIdentitySchema>>;

let bootId: string | undefined;

/** Null when there is no such process, or only its zombie. */
export function processIdentity(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const startedAt = startOf(pid);
  return startedAt === null ? null : { pid, startedAt };
}

/** Whether this very process is still running. */
export function isAlive(identity: ProcessIdentity): boolean {
  return processIdentity(identity.pid)?.startedAt === identity.startedAt;
}

/** Epoch milliseconds, to about a second; null where that cannot be known. */
export function processStart(pid: number): number | null {
  if (process.platform === 'win32') return null;
  if (process.platform !== 'linux') {
    const text = startFromPs(listWithPs(['-o', 'stat=,lstart=', '-p', String(pid)]) ?? '');
    const at = Date.parse(`${text} UTC`);
    return Number.isNaN(at) ? null : at;
  }
  const ticks = Number(readStat(pid)?.startTime || Number.NaN);
  const at = bootTime() + (ticks / ticksPerSecond) * 1000;
  return Number.isFinite(at) ? at : null;
}

// The unit of times in /proc is the same on every architecture that Node runs on.
const ticksPerSecond = 100;

function bootTime(): number {
  try {
    return Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? Number.NaN) * 1000;
  } catch {
    return Number.NaN;
  }
}

function startOf(pid: number): string | null {
  if (process.platform === 'win32') return exists(pid) ? 'unknown' : null;
  if (process.platform !== 'linux')
    return startFromPs(listWithPs(['-o', 'stat=,lstart=', '-p', String(pid)]) ?? '');
  const stat = readStat(pid);
  if (stat === null) return null;
  bootId ??= readBootId();
  return `${bootId}/${stat.startTime}`;
}

/** From a line such as `Ss   Sun Nov 15 21:19:00 2026`. */
export function startFromPs(line: string): string | null {
  const match = /^\s*(\S+)\s+(\S.*\S)\s*$/.exec(line);
  return match === null || match[1]?.startsWith('Z') ? null : (match[2] ?? null);
}

// Start times count from the boot: after the next one the same number can come again.
function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'boot';
  }
}
