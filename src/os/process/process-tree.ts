import { readdirSync, readFileSync } from 'node:fs';
import { ancestors, readStat } from './process-table.ts';

/** Set for a process that outlives what started it: it belongs to nobody's tree. */
export const detachedMark = { RALPH_DETACHED: '1' } as const;

/** Runs `ps` with these words, for the systems without /proc. */
type Ps = (args: readonly string[]) => string | null;

type Row = {
  readonly pid: number;
  readonly ppid: number;
  /** No later process with the same pid has the same. */
  readonly startedAt: string;
  readonly isDetached: () => boolean;
};

/**
 * Children of processes and theirs, whatever they did to their environment and their group. The answer gives those
 * that live of all that were ever found: an orphan cannot be found a second time.
 */
export function followChildren(ps: Ps): (roots: readonly number[]) => number[] {
  const known = new Map<number, string>();
  return (roots) => {
    const rows = new Map(listProcesses(ps).map((row) => [row.pid, row]));
    for (const [pid, startedAt] of known) if (rows.get(pid)?.startedAt !== startedAt) known.delete(pid);
    const children = new Map<number, Row[]>();
    for (const row of rows.values()) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row]);
    const ours = ancestors((pid) => rows.get(pid)?.ppid);
    const open = [...roots, ...known.keys()];
    for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
      for (const child of children.get(pid) ?? []) {
        if (known.has(child.pid) || ours.has(child.pid) || child.isDetached()) continue;
        known.set(child.pid, child.startedAt);
        open.push(child.pid);
      }
    }
    return [...known.keys()];
  };
}

function listProcesses(ps: Ps): Row[] {
  if (process.platform === 'win32') return [];
  return process.platform === 'linux' ? fromProc() : fromPs(ps);
}

function fromProc(): Row[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    if (stat === null) return [];
    const isDetached = () => hasMark(`\0${environOf(name)}`, '\0');
    return [{ pid: Number(name), ppid: stat.ppid, startedAt: stat.startTime, isDetached }];
  });
}

function fromPs(ps: Ps): Row[] {
  const listed = ps(['-A', '-E', '-ww', '-o', 'pid=,ppid=,stat=,lstart=,command=']) ?? '';
  return listed.split('\n').flatMap((line) => {
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
