import { describe, expect, it } from 'vitest';
import { resetTimeIn } from './reset-time.ts';

const now = new Date(2026, 10, 15, 18, 53, 30).getTime();
const hour = 3_600_000;

describe('the end of a limit', () => {
  it.each([
    ['You’ve hit your usage limit. Upgrade to Pro or try again at 7:53 PM.', [2026, 10, 15, 19, 53]],
    ['try again at 6:53 PM.', [2026, 10, 15, 18, 53]],
    ['try again at 6:52 PM.', [2026, 10, 16, 18, 52]],
    ['try again at 12:27 AM.', [2026, 10, 16, 0, 27]],
    ['try again at 12:05 PM.', [2026, 10, 16, 12, 5]],
    ['purchase more credits or try again at Nov 19th, 2026 12:27 AM.', [2026, 10, 19, 0, 27]],
    ['try again at Jan 1st, 2027 1:00 PM.', [2027, 0, 1, 13, 0]],
  ] as const)('is the local time in %j', (message, [year, month, day, hours, minutes]) => {
    expect(resetTimeIn(message, now)).toBe(new Date(year, month, day, hours, minutes).getTime());
  });

  it.each([
    ['Try again in 3 days 2 hours 5 minutes.', 74 * hour + 300_000],
    ['Please try again in 11.054s. Visit 2 pages.', 11_054],
    ['Suggested retry after 60s.', 60_000],
    ['Your quota will reset after 3h34m12s.', 3 * hour + 34 * 60_000 + 12_000],
    ['Please retry in 250ms', 250],
    ['try again in 1 week', 168 * hour],
  ])('is after the wait in %j', (message, ms) => {
    expect(resetTimeIn(message, now)).toBe(now + ms);
  });

  it.each([
    'Please try again later.',
    'try again at noon',
    'reset after a while',
    `try again in ${'9'.repeat(400)} days`,
  ])('is not told by %j', (message) => {
    expect(resetTimeIn(message, now)).toBeUndefined();
  });

  it('needs the clock, unless the date is told too', () => {
    expect(resetTimeIn('try again at 7:53 PM', undefined)).toBeUndefined();
    expect(resetTimeIn('try again in 5 minutes', undefined)).toBeUndefined();
    expect(resetTimeIn('try again at Nov 19th, 2026 12:27 AM', undefined)).toBe(
      new Date(2026, 10, 19, 0, 27).getTime(),
    );
  });
});

const night = Date.UTC(2026, 10, 16, 0, 23, 40);

describe('the end of a usage limit on a screen', () => {
  it.each<[string, number]>([
    ["You've hit your limit · resets 2:23am (UTC)", Date.UTC(2026, 10, 16, 2, 23)],
    ["You've hit your limit · resets 12:10am (UTC)", Date.UTC(2026, 10, 17, 0, 10)],
    ['resets 12:23am (UTC)', Date.UTC(2026, 10, 16, 0, 23)],
    ['session limit · resets 3pm (Europe/Berlin)', Date.UTC(2026, 10, 16, 14, 0)],
    ['weekly limit · resets Nov 19, 2am (UTC)', Date.UTC(2026, 10, 19, 2, 0)],
    ['weekly limit · resets Jan 2 at 2am (UTC)', Date.UTC(2027, 0, 2, 2, 0)],
    ['hit your limit · resets 2:23am (UTC)\n limit resets 2:23am', Date.UTC(2026, 10, 16, 2, 23)],
    ['resets 5am (Nowhere/Land)', localAt(5, 0)],
    ['limit resets 9:05pm', localAt(21, 5)],
    ['purchase more\n  credits or try again at 2:30 AM.', localAt(2, 30)],
    ['retry after 60s', night + 60_000],
  ])('is read from %j', (text, at) => {
    expect(resetTimeIn(text, night)).toBe(at);
  });

  it('is unknown where nothing tells it', () => {
    expect(resetTimeIn('Usage limit reached for gemini-2.5-flash.', night)).toBeUndefined();
  });
});

function localAt(hours: number, minutes: number): number {
  const time = new Date(night);
  time.setHours(hours, minutes, 0, 0);
  if (time.getTime() < night - 60_000) time.setDate(time.getDate() + 1);
  return time.getTime();
}
