const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const clockTime = new RegExp(
  String.raw`(?:try again at|resets?(?: at)?) (?:(${months.join('|')})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))? (?:at )?)?` +
    String.raw`(\d{1,2})(?::(\d{2}))?\s?([ap])m(?: \(([\w/+-]+)\))?`,
  'gi',
);
const waitingTime = /(?:try again|retry|resets?) (?:in|after) ((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+)/i;
const minute = 60_000;
const day = 24 * 60 * minute;
const units: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milli)/i, 1],
  [/^s/i, 1000],
  [/^m/i, minute],
  [/^h/i, 60 * minute],
  [/^d/i, day],
  [/^w/i, 7 * day],
];

/**
 * Reads when a limit ends from an error message or a screen: `try again at 7:53 PM`, `resets Nov 19, 2am (Europe/Berlin)`,
 * `try again in 3 days 2 hours`, `retry after 60s`. A time without a zone is local. Epoch milliseconds, as `now` is;
 * without `now` only a date with its year can be read.
 */
export function resetTimeIn(text: string, now: number | undefined): number | undefined {
  // A screen breaks lines anywhere.
  const line = text.replace(/\s+/g, ' ');
  const [match] = [...line.matchAll(clockTime)].sort((a, b) => detailOf(b) - detailOf(a));
  if (match !== undefined) return timeOf(match, now);
  const wait = waitingTime.exec(line)?.[1];
  if (wait === undefined || now === undefined) return undefined;
  const time = now + durationOf(wait);
  return Number.isFinite(time) ? time : undefined;
}

/** Counts what a match names: the one with a zone or a date says the most. */
function detailOf(match: RegExpMatchArray): number {
  return match.filter((part) => part !== undefined).length;
}

function timeOf(
  [, month, date, year, hour, minutes, half, zone]: RegExpMatchArray,
  now: number | undefined,
): number | undefined {
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0);
  const timeAt = (years: number, monthIndex: number, dayOfMonth: number) =>
    epochOf(Date.UTC(years, monthIndex, dayOfMonth, hours, Number(minutes ?? 0)), zone);
  const toMonth = months.indexOf(month?.toLowerCase() ?? '');
  if (year !== undefined) return timeAt(Number(year), toMonth, Number(date));
  if (now === undefined) return undefined;
  const today = new Date(wallClock(now, zone));
  const thisYear = today.getUTCFullYear();
  if (month !== undefined) {
    const time = timeAt(thisYear, toMonth, Number(date));
    return time < now - day ? timeAt(thisYear + 1, toMonth, Number(date)) : time;
  }
  const time = timeAt(thisYear, today.getUTCMonth(), today.getUTCDate());
  // The seconds are cut off, so the time may lie within the minute that is running.
  if (time > now - minute) return time;
  return timeAt(thisYear, today.getUTCMonth(), today.getUTCDate() + 1);
}

/** Returns the moment at which clocks in the zone show this time. */
function epochOf(clock: number, zone: string | undefined): number {
  return clock - (wallClock(clock, zone) - clock);
}

/** Returns what clocks in the zone show, as if it were UTC. */
function wallClock(time: number, zone: string | undefined): number {
  const parts = formatIn(zone).formatToParts(time);
  const value = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  return Date.UTC(value('year'), value('month') - 1, value('day'), value('hour'), value('minute'));
}

function formatIn(zone: string | undefined): Intl.DateTimeFormat {
  const options = {
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  } as const;
  try {
    return new Intl.DateTimeFormat('en-US', zone === undefined ? options : { ...options, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat('en-US', options);
  }
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
