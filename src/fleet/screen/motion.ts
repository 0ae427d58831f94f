import { lastLines, withoutMotion } from './visible-lines.ts';

/** Last changes of a screen, in monotonic milliseconds. */
export type Motion = {
  readonly visible: readonly string[];
  /** Time of the last change. */
  readonly changedAt: number;
  readonly still: readonly string[];
  /** Time of the last change of more than a spinner or a timer. */
  readonly movedAt: number;
};

/** Time that an agent may wait for a tool or a model while only a timer runs. */
const patience = { times: 10, atLeastMs: 10 * 60_000 };

/** Returns the motion after one more look at the screen. */
export function follow(before: Motion | null, lines: readonly string[], now: number): Motion {
  const visible = lastLines(lines);
  if (before === null) return { visible, changedAt: now, still: visible.map(withoutMotion), movedAt: now };
  if (isSame(before.visible, visible)) return before;
  // Reads only lines that changed: most of a screen stays the same.
  const still = visible.map((line, at) =>
    line === before.visible[at] ? (before.still[at] ?? '') : withoutMotion(line),
  );
  return { visible, changedAt: now, still, movedAt: isSame(before.still, still) ? before.movedAt : now };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}

/**
 * True if the agent has stopped: nothing changed for `timeoutMs`, or for ten times as long (ten minutes at least)
 * nothing but a spinner or a timer did.
 */
export function isInactive(motion: Motion, now: number, timeoutMs: number): boolean {
  if (now - motion.changedAt >= timeoutMs) return true;
  return now - motion.movedAt >= Math.max(timeoutMs * patience.times, patience.atLeastMs);
}
