import { readLimits, releaseAccount, setMaxParallel } from '../store/fleet-limits.ts';
import { listLoops } from '../store/fleet-loops.ts';
import { ensureMarks, markChanged } from '../store/fleet-marks.ts';
import { showStamp, stamp } from '../store/fleet-time.ts';
import { systemClock } from '../system/clock.ts';
import type { Context, Input } from './spec.ts';
import { fault } from './swarm-context.ts';
import { wantsEngine } from './swarm-engine.ts';
import type { limitsOptions } from './swarm-options.ts';

/** Shows the limits that hold over all loops, and changes them. */
export async function main(context: Context, input: Input<typeof limitsOptions>): Promise<number> {
  if (wantsEngine(context, input.values)) return (await import('./swarm-cluster.ts')).limits(context, input);
  const { env, stdout } = context;
  const { values } = input;
  if (values['starts-per-minute'] !== undefined || values['max-cost'] !== undefined) {
    throw fault(
      'these limits hold over a cluster',
      'swarm limits --engine URL, or swarm spawn --max-cost for one loop',
    );
  }
  const { release, unlimited = false } = values;
  const max = values['max-parallel'];
  if (max !== undefined || unlimited) setMaxParallel(env, unlimited ? null : (max ?? null));
  if (release !== undefined && !releaseAccount(env, release)) {
    throw fault(`no loop waits for the account '${release}'`, 'swarm limits');
  }
  if (max !== undefined || unlimited || release !== undefined) wakeLoops(env);
  const { maxParallel, holds } = readLimits(env);
  const waiting = Object.entries(holds).filter(([, until]) => until > systemClock.now());
  const lines = [
    `at the same time: ${maxParallel === null ? 'any number of iterations' : `at most ${maxParallel}`}`,
    ...waiting.map(([account, until]) => `account ${account}: usage limit until ${showStamp(stamp(until))}`),
  ];
  stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

/** Who waits for a limit looks again. */
function wakeLoops(env: Context['env']): void {
  ensureMarks(env);
  for (const name of listLoops(env)) markChanged(env, name);
}
