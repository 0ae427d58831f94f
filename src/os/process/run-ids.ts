import { readdirSync, readFileSync } from 'node:fs';
import { listWithPs } from './spawn.ts';

/** Returns living processes by their run, for runs whose id has this prefix. */
export function processesByRun(prefix: string): Map<string, number[]> {
  const pids = new Map<string, number[]>();
  for (const [pid, environment] of process.platform === 'linux' ? fromProc() : fromPs()) {
    const id = environment.find((entry) => entry.startsWith(`RALPH_RUN_ID=${prefix}`))?.slice(13);
    if (id !== undefined && pid !== process.pid) pids.set(id, [...(pids.get(id) ?? []), pid]);
  }
  return pids;
}

function* fromProc(): Generator<readonly [number, string[]]> {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // A zombie has no environment any more.
      yield [Number(name), readFileSync(`/proc/${name}/environ`, 'utf8').split('\0')];
    } catch {
      // The process ended, or is another user's.
    }
  }
}

function* fromPs(): Generator<readonly [number, string[]]> {
  for (const line of (listWithPs(['-A', '-E', '-ww', '-o', 'pid=,command=']) ?? '').split('\n')) {
    const [pid = '', ...words] = line.trim().split(/\s+/);
    if (/^\d+$/.test(pid)) yield [Number(pid), words];
  }
}
