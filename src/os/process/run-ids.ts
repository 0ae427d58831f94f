import { listProcesses } from './process-list.ts';

const variable = 'RALPH_RUN_ID=';

/** Returns living processes by their run, for runs whose id has this prefix. */
export function processesByRun(prefix: string): Map<string, number[]> {
  const pids = new Map<string, number[]>();
  for (const { pid, environment } of listProcesses()) {
    const entries = environment().split('\0');
    const id = entries.find((entry) => entry.startsWith(`${variable}${prefix}`))?.slice(variable.length);
    if (id !== undefined && pid !== process.pid) pids.set(id, [...(pids.get(id) ?? []), pid]);
  }
  return pids;
}
