import { readdirSync, readFileSync } from 'node:fs';
import { ancestors, readStat } from './process-table.ts';
import { listWithPs } from './spawn.ts';

/** Environment of a process that outlives its parent and belongs to no tree. */
export const detachedMark = { RALPH_DETACHED: '1' } as const;

type Row = {
  readonly pid: number;
  readonly ppid: number;
  /** Differs from that of any later process with the same pid. */
  readonly startedAt: string;
  readonly isDetached: () => boolean;
};

/**
 * Finds the descendants of processes, whatever they did to their environment and their group. Each call returns the
 * living ones of all that were found so far: an orphan cannot be found a second time.
 */
export function followChildren(): (roots: readonly number[]) => number[] {
  const startTimes = new Map<number, string>();
  return (roots) => {
    const rows = new Map(listProcesses().map((row) => [row.pid, row]));
    for (const [pid, startedAt] of startTimes)
      if (rows.get(pid)?.startedAt !== startedAt) startTimes.delete(pid);
    const children = new Map<number, Row[]>();
    for (const row of rows.values()) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row]);
    const ours = ancestors((pid) => rows.get(pid)?.ppid);
    const open = [...roots, ...startTimes.keys()];
    for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
      for (const child of children.get(pid) ?? []) {
        if (startTimes.has(child.pid) || ours.has(child.pid) || child.isDetached()) continue;
        startTimes.set(child.pid, child.startedAt);
        open.push(child.pid);
      }
    }
    return [...startTimes.keys()];
  };
}

function listProcesses(): Row[] {
  if (process.platform === 'win32') return [];
  return process.platform === 'linux' ? fromProc() : fromPs();
}

function fromProc(): Row[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    if (stat === null) return [];
    const isDetached = () => hasMark(`\0${environOf(name)}`, '\0');
    return [{ pid: Number(name), ppid: stat.ppid, startedAt: stat.startTime, isDetached }];
  });
}

function fromPs(): Row[] {
  const listing = listWithPs(['-A', '-E', '-ww', '-o', 'pid=,ppid=,stat=,lstart=,command=']) ?? '';
  return listing.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+([^Z\s]\S*)\s+(\S+ +\S+ +\S+ +\S+ +\d+)\s(.*)$/.exec(line);
    if (match === null) return [];
    const [, pid, ppid, , startedAt = '', words = ''] = match;
    const isDetached = () => hasMark(` ${words} `, ' ');
    return [{ pid: Number(pid), ppid: Number(ppid), startedAt, isDetached }];
  });
}

function hasMark(environment: string, between: string): boolean {
  return Object.entries(detachedMark).every(([name, value]) =>
    environment.includes(`${between}${name}=${value}${between}`),
  );
}

function environOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
