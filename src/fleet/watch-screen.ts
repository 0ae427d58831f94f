import type { Environment } from '../os/process/program.ts';
import type { ContextStep } from './context.ts';
import { type DrivenLoop, turnOf } from './driven-loop.ts';
import { needsYou, type Why } from './files/loops.ts';
import { classify, isReady, type Screen } from './screen/classify.ts';
import { follow, isInactive, type Motion } from './screen/motion.ts';

/** Result of a look at the screen of a working agent. */
export type ScreenLook = {
  /** Why the iteration is over; null if it goes on. */
  readonly end: 'done' | 'inactive' | 'limited' | 'wrapped-up' | null;
  /** End of the limit, if the screen shows it. */
  readonly until?: number;
  readonly why: Why | null;
  /** True if the agent waits for its prompt. */
  readonly isReady: boolean;
  /** Action that its context asks for. */
  readonly context?: ContextStep;
};

export type LookTime = {
  readonly now: number;
  readonly monotonic: number;
  readonly tickMs: number;
  /** State of the terminal before the look; empty if it is not known. */
  readonly tty: string;
};

/** A screen that stands still this many ticks is looked at less often. */
const calmTicks = 5;
const calmPace = 3;

/** Follows the screen of an agent, and reports a limit, silence, or a match that ends it as done. */
export function lookAtScreen(
  env: Environment,
  one: DrivenLoop,
  text: string,
  { now, monotonic, tickMs, tty }: LookTime,
): ScreenLook {
  const nothing: ScreenLook = { end: null, why: null, isReady: false };
  const timeoutMs = one.loop.settings.inactivity_timeout * 1000;
  const hasChanged = text !== one.text || one.motion === null;
  const lines = text.split('\n');
  const isRun = one.loop.options.run !== undefined;
  if (hasChanged && !isRun) {
    one.showsPattern = showsPattern(env, one, lines);
    if (one.showsPattern && one.loop.options.checkDoneContinuous) return { ...nothing, end: 'done' };
  }
  // The first look comes up to two ticks after the start, and nothing has been seen to change since.
  const unseenMs = one.motion === null ? Math.min(ageOf(one, now), 2 * tickMs, timeoutMs / 2) : 0;
  const motion = hasChanged ? follow(one.motion, lines, monotonic - unseenMs) : one.motion;
  one.text = text;
  one.motion = motion;
  if (motion === null) return nothing;
  if (one.pane && !one.pane.owner.prompted && isReady(one.agent, lines)) return { ...nothing, isReady: true };

  // `ralph run` watches its own timeouts and markers.
  if (isRun) return { ...nothing, why: { state: 'working', since: now } };
  const calm = isCalm(motion, monotonic, tickMs);
  const screen = hasChanged ? classify(one.agent, lines, now) : one.screen;
  one.screen = screen;
  const shownBefore = one.trouble;
  one.trouble = screen?.state ?? '';
  const asks = screen !== null && needsYou(screen.state);
  // Not reported before a second look confirms it.
  if ((asks || screen?.state === 'limit') && shownBefore !== screen.state) return nothing;
  if (screen?.state === 'limit') {
    return { ...nothing, end: 'limited', ...(screen.until === undefined ? {} : { until: screen.until }) };
  }
  // A question waits for a person as long as it takes, and nothing may be typed into it.
  const context = asks ? undefined : turnOf(env, one).context?.look(lines);
  if (context?.kind === 'end') return { ...nothing, end: 'wrapped-up', context };
  if (!asks && isInactive(motion, monotonic, timeoutMs)) return { ...nothing, end: 'inactive' };
  const silentAt = asks ? Number.POSITIVE_INFINITY : motion.changedAt + timeoutMs;
  one.quiet = calm && tty !== '' ? { tty, until: silentAt } : null;
  one.nextLook = calm ? Math.min(monotonic + calmPace * tickMs - tickMs / 2, silentAt) : 0;
  return { ...nothing, why: whyOf(screen, calm, now), ...(context === undefined ? {} : { context }) };
}

/** True if the screen has stood still long enough to be looked at less often. */
export function isCalm({ changedAt }: Motion, at: number, tickMs: number): boolean {
  return at - changedAt >= calmTicks * tickMs;
}

function ageOf({ loop }: DrivenLoop, now: number): number {
  return Math.max(0, now - (loop.iterationStartedAt ?? now));
}

function showsPattern(env: Environment, one: DrivenLoop, lines: readonly string[]): boolean {
  const { lookIfDone } = turnOf(env, one);
  if (lookIfDone === null) return false;
  const check = lookIfDone(lines, one.echoed);
  one.echoed = check.echoed;
  return check.done;
}

/** Returns the state on the screen or, without one, whether the screen moves. */
function whyOf(screen: Screen | null, calm: boolean, since: number): Why {
  if (screen === null) return { state: calm ? 'idle' : 'working', since };
  return { ...screen, since };
}
