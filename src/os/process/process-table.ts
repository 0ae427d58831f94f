import { attempt } from '../attempt.ts';
import { descends } from './descent.ts';
import {
  ancestors,
  listPids,
  listProcesses,
  type ProcessRow,
  readProc,
  readProcText,
  readStat,
} from './process-list.ts';

/** Selects the processes of a group and those with a mark in their environment. */
export type ProcessQuery = {
  readonly mark: EnvironmentMark;
  readonly group?: number | undefined;
  /** Selects also processes that come from this run and have removed all other marks. */
  readonly descent?: string | undefined;
  /** Taken when the group was started: older processes are skipped. */
  readonly since?: Birth | undefined;
};

/** Marks all processes of a run, of one iteration of it, or (`tree`) of one start. */
type EnvironmentMark =
  | { readonly runId: string; readonly iteration?: number | undefined }
  | { readonly tree: string };

/** A process and the number of forks that the machine had made when it started. */
export type Birth = { readonly pid: number; readonly forks: number };

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

/** Returns the value for `ProcessQuery.since`, right after a start. */
export function birthOf(pid: number): Birth {
  return { pid, forks: forksOfMachine() };
}

/** Returns the living processes that a query selects, never ourselves or an ancestor; none on Windows. */
export function findProcesses(query: ProcessQuery): number[] {
  return process.platform === 'linux' ? findInProc(query) : findInRows(listProcesses(), query);
}

/** Reads no more of /proc than it has to: this is called at the end of every turn. */
function findInProc(query: ProcessQuery): number[] {
  const group = query.group !== undefined && exists(-query.group) ? query.group : undefined;
  const [oldest, newest] = query.since ? pidsSince(query.since) : allPids;
  const matches = listPids().filter((pid) => {
    if (pid < oldest || pid > newest) return false;
    if (group !== undefined && readStat(pid)?.group === group) return true;
    const environ = readProc(`${pid}/environ`);
    if (environ !== null && isMarked(environ, query.mark)) return true;
    return query.descent !== undefined && readStat(pid) !== null && descends(pid, query.descent);
  });
  if (matches.length === 0) return matches;
  const protectedPids = ancestors((pid) => readStat(pid)?.ppid);
  const maySignal = (pid: number) => attempt(() => process.kill(pid, 0), false);
  return matches.filter((pid) => !protectedPids.has(pid) && maySignal(pid));
}

/** Same as `findProcesses`, for systems without /proc. */
export function findInRows(rows: readonly ProcessRow[], query: ProcessQuery): number[] {
  const parents = new Map(rows.map((row) => [row.pid, row.ppid]));
  const protectedPids = ancestors((pid) => parents.get(pid));
  return rows
    .filter((row) => !protectedPids.has(row.pid))
    .filter((row) => row.group === query.group || isMarked(row.environment(), query.mark))
    .map((row) => row.pid);
}

function isMarked(environ: Buffer | string, mark: EnvironmentMark): boolean {
  if (!environ.includes('tree' in mark ? mark.tree : mark.runId)) return false;
  const variables = environ.toString().split('\0');
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

/** True if there is such a process, or (by a negative number) such a group, zombies included. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
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
