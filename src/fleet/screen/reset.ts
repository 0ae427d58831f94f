import { resetTimeIn } from '../../agents/reset-time.ts';

const minute = 60_000;
const day = 24 * 60;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** `resets 2:23am (UTC)`, `limit resets 3pm`, `resets Nov 19, 2am (Europe/Berlin)`. */
const reset =
  /resets? (?:at )?(?:([A-Z][a-z]{2})[a-z]* (\d{1,2}),? (?:at )?)?(\d{1,2})(?::(\d{2}))?\s?([ap])m(?: \(([\w/+-]+)\))?/gi;

/** When the limit that a screen tells of ends, in epoch milliseconds. A time without a zone is local. */
export function resetOnScreen(text: string, now: number): number | undefined {
  const match = [...text.matchAll(reset)].sort((a, b) => detailOf(b) - detailOf(a))[0];
  // A screen breaks lines where it likes.
  if (match === undefined) return resetTimeIn(text.replace(/\s+/g, ' '), now);
  const [, month, date, hour, minutes = '0', half, zone] = match;
  const here = wallClock(now, zone);
  const wanted = (Number(hour) % 12) * 60 + (half?.toLowerCase() === 'p' ? 12 * 60 : 0) + Number(minutes);
  const days = month === undefined ? 0 : daysUntil(here, months.indexOf(month.toLowerCase()), Number(date));
  const ahead = days * day + wanted - here.minute;
  // The seconds are cut off, so that the minute that is running may be meant.
  return Math.floor(now / minute) * minute + (ahead < 0 ? ahead + day : ahead) * minute;
}

/** The one that names a zone or a date tells the most. */
function detailOf(match: RegExpMatchArray): number {
  return match.filter((part) => part !== undefined).length;
}

type WallClock = {
  readonly year: number;
  readonly month: number;
  readonly date: number;
  readonly minute: number;
};

function wallClock(now: number, zone: string | undefined): WallClock {
  const options = { hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const parts = formatIn(zone, { ...options, hour: 'numeric', minute: 'numeric' }).formatToParts(now);
  const value = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  return {
    year: value('year'),
    month: value('month') - 1,
    date: value('day'),
    minute: value('hour') * 60 + value('minute'),
  };
}

function formatIn(zone: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', zone === undefined ? options : { ...options, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat('en-US', options);
  }
}

function daysUntil({ year, month, date }: WallClock, toMonth: number, toDate: number): number {
  const days = (toYear: number) =>
    Math.round((Date.UTC(toYear, toMonth, toDate) - Date.UTC(year, month, date)) / (day * minute));
  return days(year) < 0 ? days(year + 1) : days(year);
}
