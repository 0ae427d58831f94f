import { readdirSync, readFileSync } from 'node:fs';
import { descends } from './descent.ts';
import { listWithPs } from './spawn.ts';

/** Selects the processes of a group and those with a mark in their environment. */
export type ProcessQuery = {
  readonly mark: EnvironmentMark;
  readonly group?: number;
  /** Selects also processes that come from this run and have removed all other marks. */
  readonly descent?: string;
  /** Taken when the group was started: older processes are skipped. */
  readonly since?: Birth;
};

/** Marks all processes of a run, of one iteration of it, or (`tree`) of one start. */
type EnvironmentMark = { readonly runId: string; readonly iteration?: number } | { readonly tree: string };

/** A process and the number of forks that the machine had made when it started. */
export type Birth = { readonly pid: number; readonly forks: number };

type Stat = { readonly ppid: number; readonly group: number; readonly startTime: string };

const allPids = [0, Number.POSITIVE_INFINITY] as const;
let pidMax: number | undefined;

/**
 * Returns variables that mark a process and its descendants. RALPH_TREE lists every start around it, so that a run
 * inside a run, which has a RALPH_RUN_ID of its own, still belongs to both.
 */
export function runMarks(
  env: Readonly<Record<string, string | undefined>>,
  runId: string,
  iteration?: number,
): { readonly tree: string; readonly variables: Record<string, string | undefined> } {
  const tree = `${runId}@${iteration ?? ''}#${Math.random().toString(36).slice(2)}`;
  return {
    tree,
    variables: {
      RALPH_RUN_ID: runId,
      RALPH_ITERATION: iteration === undefined ? undefined : String(iteration),
      RALPH_TREE: [...treesOf((name) => env[name]), tree].join(','),
    },
  };
}

/** Returns an environment without these marks, for a process that must outlive the run that starts it. */
export function withoutMarks<T extends Readonly<Record<string, string | undefined>>>(env: T) {
  const { RALPH_RUN_ID: _, RALPH_ITERATION: __, RALPH_TREE: ___, RALPH_DETACHED: ____, ...others } = env;
  return others;
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

/** Returns the value for `ProcessQuery.since`, right after a start. */
export function birthOf(pid: number): Birth {
  return { pid, forks: forksOfMachine() };
}

/** Returns the living processes that a query selects, never ourselves or an ancestor; none on Windows. */
export function findProcesses(query: ProcessQuery): number[] {
  if (process.platform === 'linux') return findInProc(query);
  if (process.platform === 'win32') return [];
  return findInListing(listWithPs(['-A', '-E', '-ww', '-o', 'pid=,ppid=,pgid=,stat=,command=']) ?? '', query);
}

/** The same from /proc. */
export function findInProc(query: ProcessQuery): number[] {
  const group = query.group !== undefined && exists(-query.group) ? query.group : undefined;
  const pids = listProc()
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const [oldest, newest] = query.since ? pidsSince(query.since) : allPids;
  const matches = pids.filter((pid) => {
    if (pid < oldest || pid > newest) return false;
    if (group !== undefined && readStat(pid)?.group === group) return true;
    const environ = readProc(`${pid}/environ`);
    if (environ !== null && isMarked(environ, query.mark)) return true;
    return query.descent !== undefined && readStat(pid) !== null && descends(pid, query.descent);
  });
  if (matches.length === 0) return matches;
  const protectedPids = ancestors((pid) => readStat(pid)?.ppid);
  return matches.filter((pid) => !protectedPids.has(pid) && maySignal(pid));
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
      (row) =>
        row.group === query.group || isMarked(Buffer.from(row.words.replaceAll(' ', '\0')), query.mark),
    )
    .map((row) => row.pid);
}

function isMarked(environ: Buffer, mark: EnvironmentMark): boolean {
  if (!environ.includes('tree' in mark ? mark.tree : mark.runId)) return false;
  const variables = environ.toString('utf8').split('\0');
  const trees = treesOf((name) =>
    variables.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1),
  );
  if ('tree' in mark) return trees.includes(mark.tree);
  const start = mark.iteration === undefined ? `${mark.runId}@` : `${mark.runId}@${mark.iteration}#`;
  return trees.some((tree) => tree.startsWith(start));
}

/** A process with only a run id was started by other means, for instance through tmux. */
function treesOf(variable: (name: string) => string | undefined): string[] {
  const trees = variable('RALPH_TREE')?.split(',') ?? [];
  const runId = variable('RALPH_RUN_ID');
  const run = `${runId}@${variable('RALPH_ITERATION') ?? ''}#`;
  return runId === undefined || trees.some((tree) => tree.startsWith(run)) ? trees : [...trees, run];
}

/** Returns our own pid and those of our ancestors. */
export function ancestors(parentOf: (pid: number) => number | undefined): Set<number> {
  const seen = new Set<number>();
  for (let pid: number | undefined = process.pid; pid && !seen.has(pid); pid = parentOf(pid)) seen.add(pid);
  return seen;
}

/** True if there is such a process, or (by a negative number) such a group, zombies included. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
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

/**
 * Returns the lowest and the highest pid that a younger process can have. The kernel gives out rising pids and skips
 * those in use (an eighth is far more than there are) until they wrap; if that may have happened, any pid is possible.
 */
function pidsSince(since: Birth): readonly [number, number] {
  pidMax ??= Number(readProc('sys/kernel/pid_max') ?? 0);
  const newest = since.pid + (forksOfMachine() - since.forks) + pidMax / 8;
  return newest < pidMax ? [since.pid, newest] : allPids;
}

function forksOfMachine(): number {
  return Number(/^processes (\d+)/m.exec(readProcText('stat') ?? '')?.[1] ?? Number.NaN);
}

function listProc(): string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

// Node reads UTF-8 fastest; only names, which are not used here, can hold anything but ASCII.
function readProcText(name: string): string | null {
  try {
    return readFileSync(`/proc/${name}`, 'utf8');
  } catch {
    return null;
  }
}

function readProc(name: string): Buffer | null {
  try {
    return readFileSync(`/proc/${name}`);
  } catch {
    return null;
  }
}
