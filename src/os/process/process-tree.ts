import { ancestors, listProcesses, type ProcessRow } from './process-list.ts';

/** Environment of a process that outlives its parent and belongs to no tree. */
export const detachedMark = { RALPH_DETACHED: '1' } as const;

/**
 * Finds the descendants of processes, whatever they did to their environment and their group. Each call returns the
 * living ones of all that were found so far: an orphan cannot be found a second time.
 */
export function followChildren(): (roots: readonly number[]) => number[] {
  const startTimes = new Map<number, string>();
  return (roots) => {
    const rows = new Map(listProcesses().map((row) => [row.pid, row]));
    for (const [pid, startTime] of startTimes)
      if (rows.get(pid)?.startTime !== startTime) startTimes.delete(pid);
    const children = new Map<number, ProcessRow[]>();
    for (const row of rows.values()) children.set(row.ppid, [...(children.get(row.ppid) ?? []), row]);
    const ours = ancestors((pid) => rows.get(pid)?.ppid);
    const open = [...roots, ...startTimes.keys()];
    for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
      for (const child of children.get(pid) ?? []) {
        if (startTimes.has(child.pid) || ours.has(child.pid) || isDetached(child)) continue;
        startTimes.set(child.pid, child.startTime);
        open.push(child.pid);
      }
    }
    return [...startTimes.keys()];
  };
}

function isDetached(row: ProcessRow): boolean {
  const variables = row.environment().split('\0');
  return Object.entries(detachedMark).every(([name, value]) => variables.includes(`${name}=${value}`));
}
