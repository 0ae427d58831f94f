import { readdirSync, readFileSync } from 'node:fs';
import { listWithPs } from './spawn.ts';

/** Living processes by the run that they belong to, for the runs whose id begins so. */
export function processesByRun(prefix: string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [pid, environment] of process.platform === 'linux' ? fromProc() : fromPs()) {
    const id = environment.find((entry) => entry.startsWith(`RALPH_RUN_ID=${prefix}`))?.slice(13);
    if (id !== undefined && pid !== process.pid) found.set(id, [...(found.get(id) ?? []), pid]);
  }
  return found;
}

function* fromProc(): Generator<readonly [number, string[]]> {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // A zombie has no environment any more.
      yield [Number(name), readFileSync(`/proc/${name}/environ`, 'utf8').split('\0')];
    } catch {
      // It ended, or is another user's.
    }
  }
}

function* fromPs(): Generator<readonly [number, string[]]> {
  for (const line of (listWithPs(['-A', '-E', '-ww', '-o', 'pid=,command=']) ?? '').split('\n')) {
    const [pid = '', ...words] = line.trim().split(/\s+/);
    if (/^\d+$/.test(pid)) yield [Number(pid), words];
  }
}
