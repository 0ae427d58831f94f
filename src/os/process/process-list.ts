import { readdirSync, readFileSync } from 'node:fs';
import { attempt } from '../attempt.ts';
import { listWithPs } from './spawn.ts';

type Stat = {
  readonly ppid: number;
  readonly group: number;
  /** Differs from that of any later process with the same pid. */
  readonly startTime: string;
};

export type ProcessRow = Stat & {
  readonly pid: number;
  /** Returns the variables, separated by NUL; empty if they cannot be read. */
  environment(): string;
};

/** Lists the processes of the machine; none on Windows. */
export function listProcesses(): ProcessRow[] {
  if (process.platform === 'win32') return [];
  if (process.platform !== 'linux')
    return readListing(
      listWithPs(['-A', '-E', '-ww', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command=']) ?? '',
    );
  return listPids().flatMap((pid) => {
    const stat = readStat(pid);
    return stat === null
      ? []
      : [{ pid, ...stat, environment: () => readProc(`${pid}/environ`)?.toString() ?? '' }];
  });
}

/** Reads the output of `ps -A -E -ww -o pid=,ppid=,pgid=,stat=,lstart=,command=`; it adds the environment to the command. */
export function readListing(listing: string): ProcessRow[] {
  return listing.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+([^Z\s]\S*)\s+(\S+ +\S+ +\S+ +\S+ +\d+)\s(.*)$/.exec(line);
    if (match === null) return [];
    const [, pid, ppid, group, , startTime = '', words = ''] = match;
    const environment = () => words.replaceAll(' ', '\0');
    return [{ pid: Number(pid), ppid: Number(ppid), group: Number(group), startTime, environment }];
  });
}

/** Reads /proc/PID/stat; null for a zombie or a missing process. The name in its second field may hold `) `. */
export function readStat(pid: number): Stat | null {
  const text = readProcText(`${pid}/stat`);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', ppid, group] = fields;
  if (state === 'Z' || state === 'X') return null;
  return { ppid: Number(ppid), group: Number(group), startTime: fields[19] ?? '' };
}

/** Returns all pids. Linux only; none if /proc is not mounted. */
export function listPids(): number[] {
  const names = attempt(() => readdirSync('/proc'), []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Reads a file below /proc. Node reads UTF-8 fastest; only names, which are not used here, are not ASCII. */
export function readProcText(name: string): string | null {
  return attempt(() => readFileSync(`/proc/${name}`, 'utf8'), null);
}

export function readProc(name: string): Buffer | null {
  return attempt(() => readFileSync(`/proc/${name}`), null);
}

export function ancestors(parentOf: (pid: number) => number | undefined): Set<number> {
  const pids = new Set<number>();
  for (let pid: number | undefined = process.pid; pid && !pids.has(pid); pid = parentOf(pid)) pids.add(pid);
  return pids;
}
