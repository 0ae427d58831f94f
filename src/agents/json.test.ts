import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asRecord, count, list, num, parseRecord, secondsToMs, str } from './json.ts';

describe('reading JSON that somebody else wrote', () => {
  it.each(['', 'warning: x', '{"a":', '[1]', '"text"', 'null', '3'])('finds no object in %j', (line) => {
    expect(parseRecord(line)).toBeUndefined();
  });

  it('finds the object on a line', () => {
    expect(parseRecord(' {"a":{"b":1}}\r')).toEqual({ a: { b: 1 } });
  });

  it('gives a value of the asked type whatever is there', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(Array.isArray(asRecord(value))).toBe(false);
        expect(typeof asRecord(value)).toBe('object');
        expect(['string', 'undefined']).toContain(typeof str(value));
        expect(Number.isFinite(num(value) ?? 0)).toBe(true);
        expect(count(value)).toBeGreaterThanOrEqual(0);
        expect(Array.isArray(list(value))).toBe(true);
        expect(secondsToMs(value) ?? 1).toBeGreaterThan(0);
      }),
    );
  });

  it('turns seconds into milliseconds, and nonsense into nothing', () => {
    expect(secondsToMs(1_794_790_000)).toBe(1_794_790_000_000);
    for (const nonsense of [0, -1, 1e308, Number.NaN, '1794790000', null])
      expect(secondsToMs(nonsense)).toBeUndefined();
  });
});
