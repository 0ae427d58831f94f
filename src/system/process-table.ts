import { readdirSync, readFileSync } from 'node:fs';

/** Which processes are meant: those of a group, and those that carry a run (and iteration) in their environment. */
export type ProcessQuery = {
  readonly group?: number;
  readonly runId: string;
  readonly iteration?: number;
  /** Taken when the group was started: older processes need no look. */
  readonly since?: Birth;
};

/** A process and the number of forks the machine had seen when it started. */
export type Birth = { readonly pid: number; readonly forks: number };

type Stat = {
  readonly state: string;
  readonly ppid: number;
  readonly group: number;
  readonly startTime: string;
};

let pidMax: number | undefined;

/** Environment that marks a process and all that it starts, also where a run is started inside a run. */
export function runMarks(
  env: Readonly<Record<string, string | undefined>>,
  runId: string,
  iteration?: number,
): Record<string, string> {
  const outer = env.RALPH_RUN_ID;
  const parents = [
    env.RALPH_PARENT_RUNS,
    outer && outer !== runId && `${outer}@${env.RALPH_ITERATION ?? ''}`,
  ];
  const chain = parents.filter(Boolean).join(' ');
  return {
    RALPH_RUN_ID: runId,
    ...(iteration === undefined ? {} : { RALPH_ITERATION: String(iteration) }),
    ...(chain === '' ? {} : { RALPH_PARENT_RUNS: chain }),
  };
}

/** A zombie, or a process that is gone, has none. The name in the second field may hold blanks and parentheses. */
export function readStat(pid: number): Stat | null {
  const text = readProc(`${pid}/stat`)?.toString('latin1');
  if (text === undefined) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', ppid, group] = fields;
  if (state === 'Z' || state === 'X') return null;
  return { state, ppid: Number(ppid), group: Number(group), startTime: fields[19] ?? '' };
}

/** Taken right after a start, for `ProcessQuery.since`. */
export function birthOf(pid: number): Birth {
  return { pid, forks: forksOfMachine() };
}

/** Living processes that the query means, never ourselves or an ancestor. Linux only. */
export function findInProc(query: ProcessQuery): number[] {
  const group = query.group !== undefined && groupExists(query.group) ? query.group : undefined;
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  const oldest = query.since && !pidsMayHaveWrapped(query.since) ? query.since.pid : 0;
  const found = pids.filter((pid) => {
    if (pid < oldest) return false;
    if (group !== undefined && readStat(pid)?.group === group) return true;
    const environ = readProc(`${pid}/environ`);
    return environ !== null && isMarked(environ, query);
  });
  if (found.length === 0) return found;
  const protectedPids = ancestors((pid) => readStat(pid)?.ppid);
  return found.filter((pid) => !protectedPids.has(pid) && maySignal(pid));
}

/** The same from the output of `ps -A -E -ww -o pid=,ppid=,pgid=,stat=,command=`, which adds the environment. */
export function findInListing(listing: string, query: ProcessQuery): number[] {
  const rows = listing.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (match === null) return [];
    const [, pid, ppid, group, state = '', words = ''] = match;
    return [{ pid: Number(pid), ppid: Number(ppid), group: Number(group), state, words }];
  });
  const parents = new Map(rows.map((row) => [row.pid, row.ppid]));
  const protectedPids = ancestors((pid) => parents.get(pid));
  return rows
    .filter((row) => !row.state.startsWith('Z') && !protectedPids.has(row.pid))
    .filter(
      (row) => row.group === query.group || isMarked(Buffer.from(row.words.replaceAll(' ', '\0')), query),
    )
    .map((row) => row.pid);
}

function isMarked(environ: Buffer, { runId, iteration }: ProcessQuery): boolean {
  if (!environ.includes(runId)) return false;
  const variables = environ.toString('utf8').split('\0');
  const parents =
    variables
      .find((entry) => entry.startsWith('RALPH_PARENT_RUNS='))
      ?.slice(18)
      .split(' ') ?? [];
  if (iteration === undefined) {
    return variables.includes(`RALPH_RUN_ID=${runId}`) || parents.some((run) => run.startsWith(`${runId}@`));
  }
  if (parents.includes(`${runId}@${iteration}`)) return true;
  return variables.includes(`RALPH_RUN_ID=${runId}`) && variables.includes(`RALPH_ITERATION=${iteration}`);
}

function ancestors(parentOf: (pid: number) => number | undefined): Set<number> {
  const seen = new Set<number>();
  for (let pid: number | undefined = process.pid; pid && !seen.has(pid); pid = parentOf(pid)) seen.add(pid);
  return seen;
}

/** Whether the group has members, dead ones included. */
export function groupExists(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function maySignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

// Pids are given out in rising order, so that a process younger than another has a higher one until they wrap.
function pidsMayHaveWrapped(since: Birth): boolean {
  pidMax ??= Number(readProc('sys/kernel/pid_max') ?? 0);
  const forks = forksOfMachine() - since.forks;
  return !(since.pid + forks < pidMax * 0.75);
}

function forksOfMachine(): number {
  return Number(/^processes (\d+)/m.exec(readProc('stat')?.toString('latin1') ?? '')?.[1] ?? Number.NaN);
}

function readProc(name: string): Buffer | null {
  try {
    return readFileSync(`/proc/${name}`);
  } catch {
    return null;
  }
}
