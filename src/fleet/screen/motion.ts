import { cleanTerminal } from '../../os/terminal/clean-terminal.ts';

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

const maxLines = 20;
/** Spinners (braille, blocks, stars, quarter circles) at the beginning of a word. */
const spinner = /(?<![^\s│┃])[\u2800-\u28ff✢✣✤✳✶✻✽✦✧·*∗⋆◐◓◑◒◴◷◶◵⣾|/\\⏺●○∙⬝■▪]+(?=\s|$)/gu;
const elapsed = /\b\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b/gi;
const clock = /\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\s?(?:[ap]m)?\b/gi;
const dots = /[.…]{1,3}(?=\s|$)/g;

/** Returns the last 20 lines that are not blank, without escape codes and trailing blanks. */
export function lastLines(lines: readonly string[]): string[] {
  const visible: string[] = [];
  for (let at = lines.length - 1; at >= 0 && visible.length < maxLines; at--) {
    const line = cleanTerminal(lines[at] ?? '').trimEnd();
    if (line !== '') visible.push(line);
  }
  return visible.reverse();
}

/** Removes what moves by itself from a line: spinners, elapsed times, clocks. */
export function withoutMotion(line: string): string {
  const still = line.replace(spinner, ' ').replace(elapsed, ' ').replace(clock, ' ').replace(dots, ' ');
  return still.replace(/\s+/g, ' ').trim();
}
