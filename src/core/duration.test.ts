import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['90s', 90_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
    ['1m30s500ms', 90_500],
    ['90', 90_000],
    ['0.1ms', 1],
    [1e-9, 1],
    [0.5, 500],
    [0, 0],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    'm',
    '5x',
    '-5s',
    '5 s',
    '1h30',
    '1..5h',
    '1e3',
    'Infinity',
    '99999999999999d',
    Number.NaN,
    -1,
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [250, '250ms'],
    [999.6, '1s'],
    [1234, '1.2s'],
    [59_949, '59.9s'],
    [59_960, '1m'],
    [367_000, '6m7s'],
    [5_400_000, '1h30m'],
    [3_601_000, '1h1s'],
    [172_800_000, '48h'],
    [-5, '0ms'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('writes whole seconds so that they read back the same', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), (seconds) => {
        expect(parseDuration(formatDuration(seconds * 1000))).toBe(seconds * 1000);
      }),
    );
  });
});
