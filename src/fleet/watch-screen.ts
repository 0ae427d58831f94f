import type { Why } from '../store/fleet-loops.ts';
import type { Environment } from '../system/program.ts';
import { type Driven, turnOf } from './driven.ts';
import { checkDone } from './screen/done.ts';
import { follow, isInactive } from './screen/motion.ts';

/** What a look at the screen of a working agent brings. */
export type Seen = { readonly end: 'done' | 'inactive' | null; readonly why: Why | null };

export type LookTime = { readonly now: number; readonly monotonic: number; readonly tickMs: number };

const goOn: Seen = { end: null, why: null };
/** A screen that stands still this many ticks is looked at less often. */
const calmTicks = 5;
const calmPace = 3;

/** Follows the screen of an agent, and tells when it is done or has fallen silent. */
export function lookAtScreen(
  env: Environment,
  one: Driven,
  lines: readonly string[],
  { now, monotonic, tickMs }: LookTime,
): Seen {
  const timeoutMs = one.loop.settings.inactivity_timeout * 1000;
  const raw = lines.join('\n');
  const changed = raw !== one.raw || one.motion === null;
  if (changed) {
    one.raw = raw;
    one.motion = follow(one.motion, lines, monotonic);
    const { pattern, prompt } = turnOf(env, one);
    if (pattern !== null) {
      const check = checkDone(pattern, lines, prompt, one.echoed);
      one.echoed = check.echoed;
      if (check.done) return { end: 'done', why: null };
    }
  }
  if (one.motion === null) return goOn;
  if (isInactive(one.motion, monotonic, timeoutMs)) return { end: 'inactive', why: null };
  const silentAt = one.motion.changedAt + timeoutMs;
  const calm = monotonic - one.motion.changedAt >= calmTicks * tickMs;
  one.nextLook = calm ? Math.min(monotonic + calmPace * tickMs - tickMs / 2, silentAt) : 0;
  return { end: null, why: changed ? { state: 'working', since: now } : null };
}
