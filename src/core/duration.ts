const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Syntax of a duration; also the pattern of the published JSON Schema. */
export const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)?|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)){2,})$/;

/** Parses `90s`, `15m`, `1h30m`, `250ms` or a plain number of seconds to milliseconds; null for anything else. */
export function parseDuration(duration: string | number): number | null {
  const ms = typeof duration === 'number' ? duration * unitMs.s : readUnits(duration);
  // A tiny duration must not round to zero, which often means never.
  const whole = ms > 0 ? Math.max(1, Math.round(ms)) : ms;
  return Number.isSafeInteger(whole) && whole >= 0 ? whole : null;
}

/** Formats milliseconds for people: `250ms`, `1.2s`, `6m7s`, `1h30m`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole}ms`;
  if (whole < 59_950) return `${Number((whole / 1000).toFixed(1))}s`;
  const seconds = Math.round(whole / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts.map(([amount, unit]) => (amount > 0 ? `${amount}${unit}` : '')).join('');
}

function readUnits(text: string): number {
  if (!durationPattern.test(text)) return Number.NaN;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h|d)?/g)) {
    ms += Number(amount) * unitMs[(unit ?? 's') as keyof typeof unitMs];
  }
  return ms;
}
