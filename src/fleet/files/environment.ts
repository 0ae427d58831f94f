import * as v from 'valibot';
import { readJsonAs, readText, removeIfThere, writeAtomic } from '../../os/files/files.ts';
import { withoutMarks } from '../../os/process/process-table.ts';
import type { Environment } from '../../os/process/program.ts';
import { signalPaths } from './paths.ts';
import { ensureSignals } from './signal-files.ts';
import type { Worker } from './workers.ts';

/** Variables of the terminal, the shell or the agent session that spawns a worker; the worker has its own. */
const ofSpawner =
  /^(?:TERM(?:_.*)?|COLORTERM|COLUMNS|LINES|TMUX(?:_.*)?|STY|WINDOWID|PWD|OLDPWD|SHLVL|_|IFS|PS[1-4]|SHELLOPTS|BASHOPTS|UID|EUID|PPID|SWARM_WORKER|CLAUDECODE|CLAUDE_CODE_(?:SESSION_ID|ENTRYPOINT|SSE_PORT))$/;

/** Keeps the environment of a spawn for all starts of its worker. The returned function restores the one before. */
export function keepEnvironment(env: Environment, name: string): () => void {
  const { environment: path } = signalPaths(env, name);
  const before = readText(path);
  ensureSignals(env);
  writeAtomic(path, `${JSON.stringify(inheritable(env))}\n`);
  return () => (before === null ? removeIfThere(path) : writeAtomic(path, before));
}

/** Returns the environment of a worker: that of its spawn, with the variables that the spawn named. */
export function workerEnvironment(
  env: Environment,
  { name, env: variables }: Pick<Worker, 'name' | 'env'>,
): Record<string, string> {
  const kept = readJsonAs(signalPaths(env, name).environment, v.record(v.string(), v.string()));
  return { ...(kept ?? inheritable(env)), ...variables };
}

function inheritable(env: Environment): Record<string, string> {
  const entries = Object.entries(withoutMarks(env)).filter(([name]) => !ofSpawner.test(name));
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
