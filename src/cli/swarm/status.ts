import { type LoopRecord, needsYou } from '../../fleet/files/loops.ts';
import { ago } from '../../fleet/files/time.ts';
import { stateWord, whyText } from '../../fleet/why.ts';
import { systemClock } from '../../os/clock.ts';
import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';
import type { Context, Input } from '../kernel/spec.ts';
import type { Member } from './fleet.ts';
import type { clusterOptions } from './options.ts';
import { withFleet } from './with-fleet.ts';

/** Exit code 0 for a worker that runs, 1 for one that does not, 2 if there is none. */
export function main(context: Context, { values, args }: Input<typeof clusterOptions>): Promise<number> {
  return withFleet(context, values, async (fleet) => {
    const member = await fleet.need(args[0], 2);
    const { name, running, loop, place } = member;
    const details = [...(loop === null ? [] : loopDetails(loop)), ...place, ...timeDetails(member)].join(
      ', ',
    );
    context.stdout.write(cleanTerminal(`${name}: ${running ? 'running' : 'stopped'} (${details})\n`));
    return running ? 0 : 1;
  });
}

/** How long it has been running or, if it is over and somebody wrote that down, how long it ran. */
function timeDetails({ running, loop, startedAt }: Member): string[] {
  if (running) return [`uptime ${ago(systemClock.now() - startedAt)}`];
  return loop === null ? [] : [`ran ${ago(loop.why.since - startedAt)}`];
}

/** How far a loop is, and how it ended or what it asks: `not done, iteration 3/3`. */
function loopDetails({ why, end, status, iteration, settings }: LoopRecord): string[] {
  const asks = needsYou(why.state) ? [whyText(why, systemClock.now())] : [];
  const isTold = asks.length > 0 || (end === null && status !== 'paused');
  const word = isTold ? asks : [stateWord(why.state)];
  return [...word, `iteration ${iteration}/${settings.max_iterations}`];
}
