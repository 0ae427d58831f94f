import { describe, expect, it } from 'vitest';
import { resetOnScreen } from './reset.ts';

const now = Date.UTC(2026, 10, 16, 0, 23, 40);

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
    ['retry after 60s', now + 60_000],
  ])('is read from %j', (text, at) => {
    expect(resetOnScreen(text, now)).toBe(at);
  });

  it('is unknown where nothing tells it', () => {
    expect(resetOnScreen('Usage limit reached for gemini-2.5-flash.', now)).toBeUndefined();
  });
});

function localAt(hours: number, minutes: number): number {
  const time = new Date(now);
  time.setHours(hours, minutes, 0, 0);
  if (time.getTime() < now - 60_000) time.setDate(time.getDate() + 1);
  return time.getTime();
}
