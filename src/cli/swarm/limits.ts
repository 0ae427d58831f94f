import { showTime } from '../../fleet/files/time.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import { fault } from './context.ts';
import type { Limits } from './fleet.ts';
import { withFleet } from './local-fleet.ts';
import type { limitsOptions } from './options.ts';

/** Shows the limits that hold over all loops, and changes them. */
export function main(context: Context, { values }: Input<typeof limitsOptions>): Promise<void> {
  const { release, unlimited } = values;
  const [max, starts, cost] = [values['max-parallel'], values['starts-per-minute'], values['max-cost']];
  return withFleet(context, values, async (fleet) => {
    await fleet.setLimits({
      ...(unlimited ? { maxParallel: null, startsPerMinute: null, maxCostUsd: null } : {}),
      ...(max === undefined ? {} : { maxParallel: max }),
      ...(starts === undefined ? {} : { startsPerMinute: starts }),
      ...(cost === undefined ? {} : { maxCostUsd: cost }),
    });
    if (release !== undefined && !(await fleet.releaseAccount(release))) {
      throw fault(`no loop waits for the account '${release}'`, 'swarm limits');
    }
    context.stdout.write(cleanTerminal(limitsText(await fleet.limits())));
  });
}

function limitsText({ maxParallel, holds, startsPerMinute, maxCostUsd, spentUsd = 0 }: Limits): string {
  const accounts = Object.entries(holds).filter(([, until]) => until > systemClock.now());
  const lines = [
    `at the same time: ${maxParallel === null ? 'any number of iterations' : `at most ${maxParallel}`}`,
    ...(startsPerMinute ? [`in a minute: at most ${startsPerMinute} begin`] : []),
    ...(maxCostUsd == null ? [] : [`cost: $${spentUsd.toFixed(2)} of $${maxCostUsd.toFixed(2)} spent`]),
    ...accounts.map(([account, until]) => `account ${account}: usage limit until ${showTime(until)}`),
  ];
  return `${lines.join('\n')}\n`;
}
