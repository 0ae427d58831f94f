import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime } from './iso-time.ts';

describe('isoTime', () => {
  it('writes a time as a Date does', () => {
    const [first, last] = [Date.UTC(1, 0, 1), Date.UTC(9999, 11, 31, 23, 59, 59, 999)];
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), (ms) => {
        expect(isoTime(ms)).toBe(new Date(ms).toISOString());
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['2000-02-29', '2100-02-28', '2100-03-01', '2024-12-31', '1970-01-01', '1969-12-31'])(
    'knows the day %s from its first to its last millisecond',
    (date) => {
      for (const text of [`${date}T00:00:00.000Z`, `${date}T23:59:59.999Z`])
        expect(isoTime(Date.parse(text))).toBe(text);
    },
  );
});
