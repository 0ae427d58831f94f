import { readLimits, releaseAccount, setMaxParallel } from '../../fleet/files/limits.ts';
import { listLoops } from '../../fleet/files/loops.ts';
import { ensureSignals, signalChange } from '../../fleet/files/signal-files.ts';
import { showStamp, stamp } from '../../fleet/files/time.ts';
import { systemClock } from '../../os/clock.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault } from './context.ts';
import { wantsCluster } from './open-cluster.ts';
import type { limitsOptions } from './options.ts';

/** Shows the limits that hold over all loops, and changes them. */
export async function main(context: Context, input: Input<typeof limitsOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return (await import('./cluster.ts')).limits(context, input);
  const { env, stdout } = context;
  const { values } = input;
  if (values['starts-per-minute'] !== undefined || values['max-cost'] !== undefined) {
    throw fault(
      'these limits hold over a cluster',
      'swarm limits --cluster URL, or swarm spawn --max-cost for one loop',
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
  ensureSignals(env);
  for (const name of listLoops(env)) signalChange(env, name);
}
