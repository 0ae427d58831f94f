const clockTime =
  /try again at (?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?, (\d{4}) )?(\d{1,2}):(\d{2})\s?([AP])M/;
const waitingTime = /(?:try again|retry|resets?) (?:in|after) ((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+)/i;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const minute = 60_000;
const units: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milli)/i, 1],
  [/^s/i, 1000],
  [/^m/i, minute],
  [/^h/i, 60 * minute],
  [/^d/i, 24 * 60 * minute],
  [/^w/i, 7 * 24 * 60 * minute],
];

/**
 * When a limit ends, by the words of an error message: `try again at 7:53 PM`, `try again at Nov 19th, 2026 12:27 AM`
 * (both in local time), `try again in 3 days 2 hours`, `retry after 60s`. Epoch milliseconds, as `now` is; without
 * `now` only a full date can be told.
 */
export function resetTimeIn(message: string, now: number | undefined): number | undefined {
  const at = clockTime.exec(message);
  if (at !== null) return timeOf(at, now);
  const wait = waitingTime.exec(message)?.[1];
  if (wait === undefined || now === undefined) return undefined;
  const time = now + durationOf(wait);
  return Number.isFinite(time) ? time : undefined;
}

function timeOf(
  [, month, day, year, hour, minutes, half]: RegExpExecArray,
  now: number | undefined,
): number | undefined {
  const hours = (Number(hour) % 12) + (half === 'P' ? 12 : 0);
  if (month !== undefined) {
    return new Date(Number(year), months.indexOf(month), Number(day), hours, Number(minutes)).getTime();
  }
  if (now === undefined) return undefined;
  const time = new Date(now);
  time.setHours(hours, Number(minutes), 0, 0);
  // The seconds are cut off, so the time may lie within the minute that is running.
  if (time.getTime() <= now - minute) time.setDate(time.getDate() + 1);
  return time.getTime();
}

function durationOf(text: string): number {
  let sum = 0;
  for (const [, amount, name = ''] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const unit = units.find(([pattern]) => pattern.test(name))?.[1];
    // Words after the duration are no part of it.
    if (unit === undefined) break;
    sum += Number(amount) * unit;
  }
  return Math.round(sum);
}
