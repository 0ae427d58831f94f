import { descends } from './descent.ts';
import { ancestors, listProcesses } from './process-list.ts';
import type { Environment } from './program.ts';

/** True if this process belongs to a run, or to this one: by its environment, that of its ancestors, or its descent. */
export function isInsideRun(env: Environment, run?: string): boolean {
  const isMatch = (id: string | undefined) => Boolean(id) && (run === undefined || id === run);
  if (isMatch(env.RALPH_RUN_ID) || descends(process.pid, run)) return true;
  const rows = new Map(listProcesses().map((row) => [row.pid, row]));
  return [...ancestors((pid) => rows.get(pid)?.ppid)].some((pid) =>
    isMatch(/(?:^|\0)RALPH_RUN_ID=([^\0]+)/.exec(rows.get(pid)?.environment() ?? '')?.[1]),
  );
}
