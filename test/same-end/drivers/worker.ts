import { readLoop } from '../../../src/fleet/files/loops.ts';
import type { TestFleet } from '../../fleet/swarm/fleet.ts';
import type { End } from '../case.ts';

const name = 'agent';

/** Spawns a worker, waits for its end and tells how it ended. */
export async function playWorker(
  fleet: TestFleet,
  command: readonly string[],
  options: readonly string[],
): Promise<End> {
  const loop = ['--name', name, '--ralph', '--prompt-file', 'PROMPT.md', '--tmux-socket', fleet.socket];
  const spawned = await fleet.swarm('spawn', ...loop, '--wait', ...options, '--', ...command);
  const record = readLoop(fleet.env, name);
  if (record?.end == null) throw new Error(`${name} has no end: ${spawned.stdout}${spawned.stderr}`);
  const { outcome, because } = record.end;
  return { outcome, iterations: record.iteration, ...because, exitCode: spawned.code ?? -1 };
}
