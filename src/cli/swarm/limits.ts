import type { ClusterLimits } from '../../cluster/limits.ts';
import { readLimits, releaseAccount, setMaxParallel } from '../../fleet/files/limits.ts';
import { listLoops } from '../../fleet/files/loops.ts';
import { ensureSignals, signalChange } from '../../fleet/files/signal-files.ts';
import { showStamp, stamp } from '../../fleet/files/time.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault } from './context.ts';
import { wantsCluster, withCluster } from './open-cluster.ts';
import type { limitsOptions } from './options.ts';

/** Shows the limits that hold over all loops, and changes them. */
export async function main(context: Context, input: Input<typeof limitsOptions>): Promise<number> {
  if (wantsCluster(context, input.values)) return changeInCluster(context, input);
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
  stdout.write(limitsText(readLimits(env)));
  return 0;
}

function changeInCluster(context: Context, { values }: Input<typeof limitsOptions>): Promise<number> {
  const { release, unlimited = false } = values;
  const [max, starts, cost] = [values['max-parallel'], values['starts-per-minute'], values['max-cost']];
  return withCluster(context, values, async (cluster) => {
    await cluster.setLimits({
      ...(unlimited ? { maxParallel: null, startsPerMinute: null, maxCostUsd: null } : {}),
      ...(max === undefined ? {} : { maxParallel: max }),
      ...(starts === undefined ? {} : { startsPerMinute: starts }),
      ...(cost === undefined ? {} : { maxCostUsd: cost }),
    });
    if (release !== undefined && !(await cluster.releaseAccount(release))) {
      throw fault(`no loop waits for the account '${release}'`, 'swarm limits');
    }
    context.stdout.write(cleanTerminal(limitsText(await cluster.limits())));
    return 0;
  });
}

/** The limits of this machine; those of a cluster may have a rate and a budget, too. */
type Limits = Pick<ClusterLimits, 'maxParallel' | 'holds'> & Partial<ClusterLimits>;

function limitsText({ maxParallel, holds, startsPerMinute, maxCostUsd, spentUsd = 0 }: Limits): string {
  const accounts = Object.entries(holds).filter(([, until]) => until > systemClock.now());
  const lines = [
    `at the same time: ${maxParallel === null ? 'any number of iterations' : `at most ${maxParallel}`}`,
    ...(startsPerMinute ? [`in a minute: at most ${startsPerMinute} begin`] : []),
    ...(maxCostUsd == null ? [] : [`cost: $${spentUsd.toFixed(2)} of $${maxCostUsd.toFixed(2)} spent`]),
    ...accounts.map(([account, until]) => `account ${account}: usage limit until ${showStamp(stamp(until))}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** Tells all loops that a limit has changed. */
function wakeLoops(env: Context['env']): void {
  ensureSignals(env);
  for (const name of listLoops(env)) signalChange(env, name);
}
