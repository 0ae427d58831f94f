import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { formatCost, formatTime, formatTokens } from './units.ts';

describe('formatTokens', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1K'],
    [1234, '1.2K'],
    [9949, '9.9K'],
    [9950, '10K'],
    [45_123, '45K'],
    [850_000, '850K'],
    [999_499, '999K'],
    [999_500, '1M'],
    [1_200_000, '1.2M'],
    [12_345_678, '12M'],
    [2_500_000_000, '2.5B'],
  ])('writes %d as %s', (tokens, expected) => {
    expect(formatTokens(tokens)).toBe(expected);
  });

  it('needs four characters at most below a trillion', () => {
    fc.assert(
      fc.property(fc.nat({ max: 999_000_000_000 }), (tokens) => {
        expect(formatTokens(tokens).length).toBeLessThanOrEqual(4);
      }),
    );
  });
});

describe('formatCost', () => {
  it.each([
    [0, '$0.00'],
    [0.0042, '$0.0042'],
    [0.005, '$0.01'],
    [5.764, '$5.76'],
    [1234.5, '$1234.50'],
  ])('writes %d as %s', (usd, expected) => {
    expect(formatCost(usd)).toBe(expected);
  });
});

describe('a time', () => {
  it.each([
    ['UTC', '2026-11-17 22:20 UTC'],
    ['Europe/Berlin', '2026-11-17 23:20 UTC+1'],
    ['Asia/Kolkata', '2026-11-18 03:50 UTC+5:30'],
    ['America/St_Johns', '2026-11-17 18:50 UTC-3:30'],
  ])('is that of %s, with its zone', (zone, expected) => {
    vi.stubEnv('TZ', zone);
    expect(formatTime('2026-11-17T22:20:31.000Z')).toBe(expected);
    vi.unstubAllEnvs();
  });
});
