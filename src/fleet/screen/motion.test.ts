import { describe, expect, it } from 'vitest';
import { follow, isInactive } from './motion.ts';

const second = 1000;
const minute = 60 * second;

describe('inactivity of a screen', () => {
  it('begins anew with every change', () => {
    const first = follow(null, ['a'], 0);
    expect(isInactive(first, 59 * second, minute)).toBe(false);
    expect(isInactive(follow(first, ['a'], 59 * second), minute, minute)).toBe(true);
    const changed = follow(first, ['b'], 59 * second);
    expect(isInactive(changed, minute, minute)).toBe(false);
    expect(isInactive(changed, 119 * second, minute)).toBe(true);
  });

  it('bears a timer that counts for ten minutes, not for ever', () => {
    let motion = follow(null, ['✶ Thinking… (0s)'], 0);
    for (let at = 2 * second; at <= 20 * minute; at += 2 * second) {
      motion = follow(motion, [`✶ Thinking… (${at / second}s)`], at);
      expect(isInactive(motion, at, minute)).toBe(at >= 10 * minute);
    }
  });

  it('leaves a long timeout its tenfold', () => {
    const before = follow(null, ['| 1s'], 0);
    const motion = follow(before, ['/ 2s'], 19 * minute);
    expect(isInactive(motion, 19 * minute, 2 * minute)).toBe(false);
    expect(isInactive(motion, 20 * minute, 2 * minute)).toBe(true);
  });
});
