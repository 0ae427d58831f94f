import { RalphError } from '../../core/error.ts';
import { damageText, type LoopRecord } from '../../fleet/files/loops.ts';
import { readWorkers, type Worker } from '../../fleet/files/workers.ts';
import { reviveSupervisor } from '../../fleet/supervisor-start.ts';
import { programCommand } from '../kernel/program-command.ts';
import type { Context } from '../kernel/spec.ts';

/** Returns all workers. Starts a supervisor if loops are running and none is alive, unless the caller will. */
export async function allWorkers(context: Context, revive = true): Promise<readonly Worker[]> {
  const { workers, warning } = readWorkers(context.env);
  if (warning !== null) warn(context, warning);
  if (revive) await reviveSupervisor(context.env, programCommand('swarm'), workers);
  return workers;
}

export async function needWorker(
  context: Context,
  name: string | undefined,
  options: { exitCode?: number; without?: string; revive?: boolean } = {},
): Promise<Worker> {
  const { exitCode = 1, without = 'a worker name is required', revive } = options;
  if (name === undefined) throw fault(without);
  const worker = (await allWorkers(context, revive)).find((one) => one.name === name);
  if (worker === undefined) {
    throw new RalphError('no-worker', `worker '${name}' not found`, { remedy: 'swarm ls', exitCode });
  }
  return worker;
}

export function warn(context: Context, text: string): void {
  context.stderr.write(`swarm: warning: ${text}\n`);
}

/** Warns of a damaged record of a loop. */
export function warnOfDamage(context: Context, { name, metadata }: Worker, loop: LoopRecord | null): void {
  const text = metadata.ralph === true ? damageText(context.env, name, loop) : null;
  if (text !== null) warn(context, text);
}

export function fault(message: string, remedy?: string, exitCode = 1): RalphError {
  return new RalphError('swarm', message, { exitCode, ...(remedy === undefined ? {} : { remedy }) });
}

/** Where the worker runs: `tmux: session:window` or `pid: 123`. */
export function placeText({ tmux, pid }: Worker): string {
  return tmux === null ? `pid: ${pid}` : `tmux: ${tmux.session}:${tmux.window}`;
}
