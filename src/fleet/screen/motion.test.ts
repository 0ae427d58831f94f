import { describe, expect, it } from 'vitest';
import { follow, isInactive, lastLines, withoutMotion } from './motion.ts';

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

describe('what a screen shows', () => {
  it('takes the last 20 lines that show something', () => {
    const lines = [...Array.from({ length: 30 }, (_, row) => `line ${row}`), '', '   '];
    expect(lastLines(lines)).toHaveLength(20);
    expect(lastLines(lines).at(-1)).toBe('line 29');
    expect(lastLines(['gone', ...lines])).toEqual(lastLines(lines));
  });

  it('does not depend on colours, blanks at line ends or empty lines below', () => {
    expect(lastLines(['\x1b[31mred\x1b[0m text  ', '', ''])).toEqual(['red text']);
  });
});

describe('what does not move by itself', () => {
  const same: [string, string][] = [
    ['✶ Scampering… (3s · ↓ 3 tokens)', '✻ Scampering… (1m 4s · ↓ 3 tokens)'],
    ['⠋ Working (5s • esc to interrupt)', '⠙ Working (2m 05s • esc to interrupt)'],
    ['12:30:59 waiting', '9:05:01 waiting'],
    ['Thinking.', 'Thinking...'],
    ['| loading', '/ loading'],
  ];
  it.each(same)('is the same for %j and %j', (before, after) => {
    expect(withoutMotion(before)).toBe(withoutMotion(after));
  });

  it('tells work from waiting', () => {
    expect(withoutMotion('✶ Scampering… (3s · ↓ 3 tokens)')).not.toBe(
      withoutMotion('✶ Scampering… (9s · ↓ 41 tokens)'),
    );
    expect(withoutMotion('● Read a.ts')).not.toBe(withoutMotion('● Read b.ts'));
  });
});
