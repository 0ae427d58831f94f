import { descends } from './descent.ts';
import { ancestors, listProcesses } from './process-list.ts';
import type { Environment } from './program.ts';

/** True if this process belongs to a run, or to this one: by its environment, that of its ancestors, or its descent. */
export function isInsideRun(env: Environment, run?: string): boolean {
  if (descends(process.pid, run)) return true;
  return inheritedValues(env, 'RALPH_RUN_ID').some((id) => run === undefined || id === run);
}

/** Returns the values of a variable here and in the processes that this one descends from: it may have been unset. */
export function inheritedValues(env: Environment, name: string): string[] {
  const rows = new Map(listProcesses().map((row) => [row.pid, row]));
  const texts = [...ancestors((pid) => rows.get(pid)?.ppid)].map((pid) => rows.get(pid)?.environment() ?? '');
  const values = texts.map((text) => new RegExp(`(?:^|\\0)${name}=([^\\0]+)`).exec(text)?.[1]);
  return [env[name], ...values].flatMap((value) => value || []);
}
